// What is left of the analyst's budgets.
cube('Budgets', {
  sql: "SELECT account, spent_epsilon, remaining_epsilon FROM dp.budgets WHERE budget = 'default'",

  measures: {
    spent: { type: 'max', sql: 'spent_epsilon' },
    left: { type: 'max', sql: 'remaining_epsilon' },
  },

  dimensions: {
    account: { type: 'string', sql: 'account' },
  },
});
