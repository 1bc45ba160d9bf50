-- Power BI: steps of Power Query are nested selects over `_` and `rows`.

select `rows`.`status` as `status`, count(1) as `a0` from (select `_`.`status` from `shop`.`orders` `_`) `rows` group by `rows`.`status`;
select `rows`.`status` as `status`, sum(`rows`.`amount`) as `a0`, avg(`rows`.`amount`) as `a1` from (select `_`.`status`, `_`.`amount` from `shop`.`orders` `_` where `_`.`amount` > 100) `rows` group by `status`;
select `$Table`.`category` as `category`, `$Table`.`id` as `id` from `shop`.`products` `$Table` order by `$Table`.`id`;
select `_`.`status`, `_`.`a0` from (select `rows`.`status` as `status`, count(1) as `a0` from (select `_`.`status` from (select `$Table`.`id` as `id`, `$Table`.`status` as `status`, `$Table`.`amount` as `amount` from `shop`.`orders` `$Table`) `_`) `rows` group by `status`) `_` where not `_`.`a0` is null;
select `_`.`status`, `_`.`a0` from (select `_`.`status`, `_`.`a0` from (select `_`.`status`, `_`.`a0` from (select `rows`.`status` as `status`, sum(`rows`.`qty`) as `a0` from (select `_`.`status`, `_`.`qty` from (select `_`.`id`, `_`.`status`, `_`.`qty` from `shop`.`orders` `_` where `_`.`qty` >= 2) `_`) `rows` group by `status`) `_` where `_`.`a0` > 10) `_` order by `_`.`a0` desc, `_`.`status`) `_` limit 1000001;
select `rows`.`region` as `region`, min(`rows`.`n`) as `a0` from (select `region`, `segment`, count(*) as `n` from `shop`.`customers` group by `region`, `segment`) `rows` group by `region`;
select `$Outer`.`category`, sum(`$Outer`.`qty`) as `a0` from (select `a`.`qty`, `b`.`category` from `shop`.`orders` as `a` inner join `shop`.`products` as `b` on (`a`.`product_id` = `b`.`id`)) as `$Outer` group by `$Outer`.`category`;
select sum(`rows`.`amount`) as `C1` from `shop`.`orders` `rows`;
select count(*) as `$Item` from (select `_`.`status` from `shop`.`orders` `_` group by `_`.`status`) `rows`;
select `rows`.`y` as `y`, count(1) as `a0` from (select year(`_`.`placed`) as `y` from `shop`.`orders` `_`) `rows` group by `y`;
select `rows`.`d` as `d`, sum(`rows`.`amount`) as `a0` from (select cast(`_`.`placed` as date) as `d`, `_`.`amount` as `amount` from `shop`.`orders` `_` where `_`.`placed` >= '2024-01-01 00:00:00' and `_`.`placed` < '2025-01-01 00:00:00') `rows` group by `d`;
select `rows`.`t0` as `t0`, count(1) as `a0` from (select case when `_`.`qty` > 5 then 'many' else 'few' end as `t0` from `shop`.`orders` `_`) `rows` group by `t0`;
select count(distinct `rows`.`customer_id`) + max(case when `rows`.`customer_id` is null then 1 else 0 end) as `a0` from `shop`.`orders` `rows` where 1 = 0;
-- the rows that the editor shows
-- @refused 45002 rows
select `_`.`id`, `_`.`status` from `shop`.`orders` `_` order by `_`.`id` limit 1000;
-- @refused 45002 rows
select `$Table`.`id` as `id`, `$Table`.`customer_id` as `customer_id`, `$Table`.`status` as `status` from `shop`.`orders` `$Table` order by 1 limit 4096;
-- its test whether the table can be read at all
select * from `shop`.`orders` limit 0;
select `status` from `shop`.`orders` group by `status` order by `status` limit 1000001;
select distinct `_`.`status` from `shop`.`orders` `_` limit 1001;
select `rows`.`channel` as `channel`, count(1) as `a0` from `shop`.`orders` `rows` where `rows`.`channel` in ('web', 'store') group by `channel`;
select sum(`rows`.`amount`) / count(1) as `a0`, count(`rows`.`discount`) as `a1` from `shop`.`orders` `rows`;
