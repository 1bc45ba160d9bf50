cube('People', {
  sql: 'SELECT * FROM people',

  measures: {
    count: { type: 'count' },
    persons: { type: 'countDistinct', sql: 'id' },
    amount: { type: 'avg', sql: 'amount' },
    total: { type: 'sum', sql: 'amount' },
    ratio: { type: 'number', sql: `${CUBE.total} / ${CUBE.count}` },
    low: { type: 'number', sql: `DP_LOW(${amount})` },
    high: { type: 'number', sql: `DP_HIGH(${amount})` },
  },

  dimensions: {
    id: { type: 'number', sql: 'id', primaryKey: true, shown: true },
    dept: { type: 'string', sql: 'dept' },
    age: { type: 'number', sql: 'age' },
    joined: { type: 'time', sql: 'joined' },
  },

  segments: {
    grown: { sql: `${CUBE}.age >= 30` },
  },
});
