-- Evidence, Redash, Mode and other editors: a person's text, wrapped to count or to limit its rows.

WITH root AS (SELECT status, COUNT(*) AS n FROM orders GROUP BY status) SELECT COUNT(*) FROM root;
-- @columns go-mysql-server writes the name otherwise
WITH root AS (select status, avg(amount) as m from orders group by 1) SELECT COUNT(*) AS n FROM root;
select status, count(*) as n from orders group by status order by n desc, status LIMIT 1000;
SELECT * FROM (select status, count(*) as n from orders group by status) x ORDER BY status LIMIT 1000;
SELECT COUNT(*) AS `count` FROM (select status, count(*) as n from orders group by status) AS `t`;
select date_format(placed, '%Y-%m') as month, count(distinct customer_id) as customers from orders group by 1 order by 1 LIMIT 1000;
select year(placed) as y, month(placed) as m, sum(amount) as revenue from orders group by y, m order by y, m;
select yearweek(placed) as w, count(*) as n from orders group by w order by w;
select yearweek(placed, 1) as w, count(*) as n from orders group by w order by w;
-- @within 1e-3
select concat(year(placed), '-Q', quarter(placed)) as q, sum(amount) as revenue from orders group by q order by q;
select last_day(placed) as d, count(*) as n from orders group by d order by d;
select dayname(placed) as d, count(*) as n from orders group by d order by d;
select monthname(placed) as d, count(*) as n from orders group by d order by d;
select weekday(placed) as d, count(*) as n from orders group by d order by d;
select to_days(placed) as d, count(*) as n from orders group by d order by d;
select date_add(date(placed), interval -weekday(placed) day) as monday, count(*) as n from orders group by monday order by monday;
select date_sub(date(placed), interval (dayofweek(placed) - 1) day) as sunday, count(*) as n from orders group by sunday order by sunday;
select from_unixtime(floor(unix_timestamp(placed) / 86400) * 86400) as day, count(*) as n from orders group by day order by day;
select date(convert_tz(placed, '+00:00', '+05:30')) as d, count(*) as n from orders group by d order by d;
select extract(year_month from placed) as ym, count(*) as n from orders group by ym order by ym;
select datediff('2025-03-01', placed) div 30 as age, count(*) as n from orders group by age order by age;
select timestampdiff(month, placed, '2025-03-01') as age, count(*) as n from orders group by age order by age;
select avg(datediff(shipped, placed)) as days from orders where shipped is not null;
select count(*) as n from orders where placed >= '2024-01-01' and placed < '2024-01-01' + interval 1 year;
select count(*) as n from orders where placed between '2024-01-01' and '2024-06-30';
select count(*) as n from orders where date(placed) = '2024-12-30';
select count(*) as n from orders where year(placed) = 2024 and month(placed) in (1, 2, 3);
select count(*) as n from orders where placed > date_sub('2025-01-31', interval 3 month);
select count(*) as n from orders where placed > now() - interval 50 year;
select count(*) as n from orders where placed > date_sub(curdate(), interval 50 year);
select sum(status = 'paid') as paid, sum(status = 'paid') / count(*) as share from orders;
-- @within 1e-3
select avg(status = 'paid') as share from orders;
select sum(if(status = 'paid', amount, 0)) as paid, sum(if(status = 'open', amount, 0)) as open from orders;
select status, total / sum(total) over () as share from (select status, sum(amount) as total from orders group by status) x order by status;
select status, round(100.0 * sum(case when channel = 'web' then 1 else 0 end) / count(*), 1) as web from orders group by status order by status;
select status, count(*) as n, sum(amount) as total, avg(amount) as mean, sum(qty) as pieces from orders group by status having sum(qty) > 10 order by status;
select case when qty between 1 and 3 then '1-3' when qty between 4 and 6 then '4-6' else '7+' end as bucket, count(*) as n from orders group by bucket order by bucket;
select qty, count(*) as n from orders group by qty having n > 100 order by qty;
select region, count(*) as n from customers where age between 20 and 40 and city <> 'Oslo' group by region order by n desc, region;
select upper(region) as r, count(*) as n from customers group by r order by r;
select left(segment, 1) as s, count(*) as n from customers group by s order by s;
select concat(region, ' / ', segment) as k, count(*) as n from customers group by k order by k;
select substring_index(segment, ' ', 1) as k, count(*) as n from customers group by k order by k;
select replace(region, 'th', 'TH') as k, count(*) as n from customers group by k order by k;
select length(city) as k, char_length(city) as c, count(*) as n from customers group by k, c order by k, c;
select age div 10 * 10 as decade, avg(balance) as b from customers where age >= 20 group by decade order by decade;
select floor(age / 10) as decade, count(balance) as b from customers group by decade order by decade;
select age % 2 as odd, count(*) as n from customers group by odd order by odd;
select count(*) as n, count(balance) as b, count(distinct id) as p from customers;
select count(*) as n from customers where balance is null or balance < 0;
select count(*) as n from customers where city in ('Oslo', 'Ålesund') and name like 'Zoë%';
select count(*) as n from customers where city regexp '^[OB]';
select count(*) as n from customers where coalesce(balance, 0) > 100;
select count(*) as n from customers where not (age > 30 or region = 'north');
select round(avg(age), 2) as a, truncate(avg(age), 1) as t, ceiling(avg(age)) as c from customers;
-- @within 1e-3
select sum(balance) as s, sum(abs(balance)) as a, sum(greatest(balance, 0)) as g, sum(round(balance)) as r from customers;
select avg(nullif(age, 18)) as a, sum(ifnull(balance, 0)) as b from customers;
select std(age) as s, variance(age) as v, stddev_samp(age) as ss from customers;
select region, n, n - lag(n) over (order by region) as diff from (select region, count(*) as n from customers group by region) x order by region;
select region, n, rank() over (order by n desc, region) as r from (select region, count(*) as n from customers group by region) x order by r;
select x.region, x.n, y.m from (select region, count(*) as n from customers group by region) x join (select c.region, avg(o.amount) as m from orders o join customers c on c.id = o.customer_id group by c.region) y on x.region = y.region order by x.region;
select r.country, x.n from (select region, count(*) as n from customers group by region) x join regions r on r.name = x.region order by r.country;
-- the values of a product have no declared range
-- @within 1e-3
select p.category, avg(o.qty * p.price) as v from orders o join products p on p.id = o.product_id group by p.category order by p.category;
select count(*) as n from orders o where exists (select 1 from products p where p.id = o.product_id and p.category = 'Office');
select avg(total) as m from (select customer_id, sum(amount) as total from orders group by customer_id) t;
select count(*) as n from (select customer_id, count(*) as k from orders group by customer_id having k >= 5) t;
select k, count(*) as n from (select customer_id, count(*) as k from orders group by customer_id) t group by k order by k;
-- @within 1e-4
select region, avg(total) as m from (select o.customer_id, c.region, sum(o.amount) as total from orders o join customers c on c.id = o.customer_id group by o.customer_id, c.region) t group by region order by region;
select status, n from (select status, count(*) as n from orders group by status) x where n = (select max(n) from (select status, count(*) as n from orders group by status) y);
select (select count(*) from customers) as c, (select count(*) from orders) as o;
select (select count(*) from orders) / (select count(*) from customers) as orders_per_customer;
-- top values: two releases
select status, channel, count(*) as n from orders where status in (select status from (select status, count(*) as n from orders group by status order by n desc, status limit 2) t) group by status, channel order by status, channel;
select status, sum(amount) as s from orders where status not in (select status from (select status, count(*) as n from orders group by status order by n desc, status limit 2) t) group by status order by status;
