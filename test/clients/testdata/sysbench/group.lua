-- A prepared GROUP BY over a public table, with a parameter that changes.
local connection, statement, from

function thread_init()
  connection = sysbench.sql.driver():connect()
  statement = connection:prepare(
    "SELECT MONTH(made) AS m, AVG(price) AS a, COUNT(*) AS n FROM products WHERE id > ? GROUP BY m ORDER BY m")
  from = statement:bind_create(sysbench.sql.type.INT)
  statement:bind_param(from)
end

function event()
  from:set(sysbench.rand.uniform(0, 500))
  local answer = statement:execute()
  if answer.nrows ~= 12 then
    error("want 12 months, have " .. answer.nrows)
  end
  answer:free()
end

function thread_done()
  statement:close()
  connection:disconnect()
end
