-- What its scripts can read of an answer: every value, as text. One command, which prints the checks as JSON.

local function json(v)
  if type(v) == "table" then
    local out = {}
    for i, x in ipairs(v) do out[i] = json(x) end
    return "[" .. table.concat(out, ",") .. "]"
  end
  return '"' .. tostring(v):gsub('[%c"\\]', function(c) return string.format("\\u%04x", c:byte()) end) .. '"'
end

local function say(name, value) print(name .. "\t" .. json(value)) end

local function show()
  local db = sysbench.sql.driver():connect()
  -- ask returns the first columns of an answer's rows; of one column, the values.
  local function ask(sql, columns)
    local answer, out = db:query(sql), {}
    for i = 1, answer.nrows do
      local row = answer:fetch_row()
      out[i] = columns == 1 and row[1] or { unpack(row, 1, columns) }
    end
    return out
  end
  db:query("SET NAMES utf8mb4")
  say("connect", ask("SELECT VERSION()", 1)[1])
  say("list", ask("SHOW TABLES", 1))
  say("describe", ask("DESCRIBE people", 2))
  say("group", ask("SELECT dept, AVG(amount) AS a, COUNT(*) AS n FROM people GROUP BY dept ORDER BY dept", 3))
  say("public", ask("SELECT id, price FROM products WHERE id <= 3 ORDER BY id", 2))
  db:query("PREPARE cheap FROM 'SELECT id, price FROM products WHERE id <= ? ORDER BY id'")
  db:query("SET @n = 3")
  say("prepared", ask("EXECUTE cheap USING @n", 2))
  db:query("DEALLOCATE PREPARE cheap")
  say("text", ask("SELECT title FROM products WHERE title = 'Zoë — 日本 😀'", 1)[1])
  db:query("SELECT * FROM people") -- last: it tells the error and ends
end

sysbench.cmdline.commands = { show = { show } }
