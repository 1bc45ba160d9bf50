// Many rows a person: visitor_id is the person.
cube('Visits', {
  sql: 'SELECT * FROM visits',

  measures: {
    visits: { type: 'count' },
    visitsLow: { type: 'number', sql: `DP_LOW(${visits})` },
    visitsHigh: { type: 'number', sql: `DP_HIGH(${visits})` },
    stay: { type: 'avg', sql: 'minutes' },
    stayLow: { type: 'number', sql: `DP_LOW(${stay})` },
    stayHigh: { type: 'number', sql: `DP_HIGH(${stay})` },
  },

  dimensions: {
    day: { type: 'number', sql: 'day' },
  },
});
