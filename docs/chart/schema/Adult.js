// One row a person. Measures are plain SQL; DP_LOW and DP_HIGH are the ends of a 95 % interval.
cube('Adult', {
  sql: 'SELECT * FROM adult',

  measures: {
    persons: { type: 'count' },
    share: { type: 'number', sql: `AVG(CASE WHEN ${CUBE}.income = '>50K' THEN 1 ELSE 0 END)` },
    shareLow: { type: 'number', sql: `DP_LOW(${share})` },
    shareHigh: { type: 'number', sql: `DP_HIGH(${share})` },
  },

  dimensions: {
    sex: { type: 'string', sql: 'sex' },
    age: { type: 'number', sql: 'age' },
    band: { type: 'number', sql: `FLOOR(${CUBE}.age / 5) * 5` },
  },
});
