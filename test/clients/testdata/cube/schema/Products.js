cube('Products', {
  sql: 'SELECT * FROM products',

  measures: {
    count: { type: 'count' },
    price: { type: 'avg', sql: 'price' },
    dearest: { type: 'max', sql: 'price' },
  },

  dimensions: {
    id: { type: 'number', sql: 'id', primaryKey: true, shown: true },
    title: { type: 'string', sql: 'title' },
    price_: { type: 'number', sql: 'price' },
    made: { type: 'time', sql: 'made' },
  },
});
