require 'json'
require 'mysql2'
require 'sequel'

E = ->(name) { ENV.fetch("SCRIM_#{name}") }
GROUP = 'SELECT dept, AVG(amount) AS a, COUNT(*) AS n FROM people GROUP BY dept ORDER BY dept'
TITLE = 'Zoë — 日本 😀'
LOGIN = { host: E['HOST'], port: E['PORT'].to_i, username: E['USER'], password: E['PASSWORD'], database: E['DB'], encoding: 'utf8mb4' }
$stdout.sync = true

def check(name)
  begin
    v = yield
  rescue StandardError => e
    v = "failed: #{e.class}: #{e.message}"
  end
  puts "#{name}\t#{JSON.generate(v)}"
end

def refused
  yield
  'failed: it was answered'
rescue StandardError => e
  e.message
end

# plain turns decimals into texts, which keep their digits.
def plain(rows) = rows.map { |r| r.map { |v| v.is_a?(BigDecimal) ? v.to_s('F') : v } }

db = Mysql2::Client.new(LOGIN)
ask = ->(sql) { plain(db.query(sql, as: :array).to_a) }
prepared = ->(sql, *args) { plain(db.prepare(sql).execute(*args, as: :array).to_a) }
check('connect') { db.server_info[:version] }
check('list') { ask['SHOW TABLES'].map(&:first) }
check('describe') { ask['DESCRIBE people'].map { |r| r[0, 2] } }
check('group') { ask[GROUP] }
check('public') { ask['SELECT id, price FROM products WHERE id <= 3 ORDER BY id'] }
check('prepared') { prepared['SELECT id, price FROM products WHERE id <= ? ORDER BY id', 3] }
check('text') { prepared['SELECT title FROM products WHERE title = ?', TITLE][0][0] }
check('error') { refused { ask['SELECT * FROM people'] } }

check('extra:several statements') do
  m = Mysql2::Client.new(LOGIN.merge(flags: Mysql2::Client::MULTI_STATEMENTS))
  out = [m.query('SELECT 1 AS a; SELECT 2 AS a').first['a']]
  out << m.store_result.first['a'] while m.next_result
  out == [1, 2] || out
end
check('extra:rows as they come') { db.query('SELECT id FROM products', stream: true, cache_rows: false).map { |r| r['id'] }.size == 1000 }
check('extra:reset of a session') { db.query('SET @x = 1') || db.query('SELECT 1').size == 1 }
check('extra:TLS') { Mysql2::Client.new(LOGIN.merge(sslca: E['CA'], sslverify: true)).query(GROUP).size == 4 }
check('extra:caching_sha2_password, in clear and over TLS') do
  [{}, { sslca: E['CA'], sslverify: true }].all? { |o| Mysql2::Client.new(LOGIN.merge(username: E['SHA2_USER'], **o)).query(GROUP).size == 4 }
end

S = Sequel.connect(adapter: 'mysql2', host: E['HOST'], port: E['PORT'].to_i, user: E['USER'], password: E['PASSWORD'], database: E['DB'], encoding: 'utf8mb4')
check('extra:Sequel, tables and views') { (S.tables.sort == %i[people products] && S.views == [:dear]) || [S.tables, S.views] }
check('extra:Sequel, schema') do
  s = S.schema(:people).map { |name, c| [name, c[:type]] }
  s == [[:id, :integer], [:name, :string], [:dept, :string], [:age, :integer], [:amount, :decimal], [:joined, :date]] || s
end
check('extra:Sequel, primary key and indexes') { (S.schema(:products).find { |n, _| n == :id }[1][:primary_key] && S.indexes(:products).is_a?(Hash)) || S.schema(:products) }
check('extra:Sequel, aggregates') do
  r = S[:people].group(:dept).order(:dept).select_map([:dept, Sequel.function(:avg, :amount).as(:a), Sequel.function(:count).*.as(:n)])
  (r.size == 4 && r.map(&:first) == %w[care law sales tech] && r[0][1] != r[0][1].to_i) || r
end
check('extra:Sequel, literals') { S[:products].where(title: TITLE).get(:id) == 7 && S[:products].where { price > 100 }.count.positive? }
check('extra:Sequel, paged') { S[:products].order(:id).limit(10, 20).select_map(:id) == (21..30).to_a }
