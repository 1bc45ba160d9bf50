local driver = require 'luasql.mysql'
local function env(name) return os.getenv('SCRIM_' .. name) end
local title = 'Zoë — 日本 😀'
local group = 'SELECT dept, AVG(amount) AS a, COUNT(*) AS n FROM people GROUP BY dept ORDER BY dept'

local function json(v)
  if type(v) == 'table' then
    local out = {}
    for i, x in ipairs(v) do out[i] = json(x) end
    return '[' .. table.concat(out, ',') .. ']'
  end
  if type(v) ~= 'string' then return tostring(v) end
  return '"' .. v:gsub('[%c"\\]', function(c) return string.format('\\u%04x', c:byte()) end) .. '"'
end

local function check(name, f)
  local ok, v = pcall(f)
  if not ok then v = 'failed: ' .. tostring(v) end
  print(name .. '\t' .. json(v))
end

local db = assert(assert(driver.mysql()):connect(env 'DB', env 'USER', env 'PASSWORD', env 'HOST', tonumber(env 'PORT')))

-- ask returns the rows of an answer; of one column, the values.
local function ask(sql, columns)
  local cursor = assert(db:execute(sql))
  local out, row = {}, cursor:fetch({}, 'n')
  while row do
    out[#out + 1] = columns == 1 and row[1] or { table.unpack(row, 1, columns or 9) }
    row = cursor:fetch({}, 'n')
  end
  cursor:close()
  return out
end

assert(db:execute 'SET NAMES utf8mb4')
check('connect', function() return ask('SELECT VERSION()', 1)[1] end)
check('list', function() return ask('SHOW TABLES', 1) end)
check('describe', function() return ask('DESCRIBE people', 2) end)
check('group', function() return ask(group) end)
check('public', function() return ask 'SELECT id, price FROM products WHERE id <= 3 ORDER BY id' end)
check('prepared', function()
  assert(db:execute "PREPARE cheap FROM 'SELECT id, price FROM products WHERE id <= ? ORDER BY id'")
  assert(db:execute 'SET @n = 3')
  local rows = ask 'EXECUTE cheap USING @n'
  assert(db:execute 'DEALLOCATE PREPARE cheap')
  return rows
end)
check('text', function() return ask("SELECT title FROM products WHERE title = '" .. db:escape(title) .. "'", 1)[1] end)
check('error', function() return select(2, db:execute 'SELECT * FROM people') end)
check('extra:names and types of an answer', function()
  local cursor = assert(db:execute(group))
  local have = table.concat(cursor:getcolnames(), ' ') .. ' ' .. table.concat(cursor:getcoltypes(), ' ')
  return have:find('^dept a n string%(') ~= nil or have
end)
