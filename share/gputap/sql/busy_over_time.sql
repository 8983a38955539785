-- SPDX-License-Identifier: MIT
-- How long each device was busy in each 100 ms, from its first to its last activity. Activities
-- that overlap are not counted twice, and an activity that crosses bins is divided exactly.
--   device         number of the device
--   bin_start_ns   start of the bin, since 1970: a multiple of 100 ms
--   busy_ns        time of the bin in which the device was busy: 0 to 100000000
--   busy_share     busy_ns / 100 ms, 0 to 1
--   activities     number of activities that start in the bin
with active as (
  select device, start_ns, start_ns + duration_ns as end_ns
  from activities
  where start_ns is not null and kind not in ('marker', 'barrier', 'scratch')
), swept as (
  select device, start_ns, end_ns,
         coalesce(max(end_ns) over (
           partition by device order by start_ns
           rows between unbounded preceding and 1 preceding), start_ns) as busy_until
  from active
), spans as (
  -- disjoint spans of a device: from_ns to to_ns; to_ns = from_ns if the activity adds nothing
  select device, start_ns - start_ns % 100000000 as start_bin, from_ns, to_ns,
         from_ns - from_ns % 100000000 as first_bin,
         to_ns - to_ns % 100000000 as last_bin
  from (
    select device, start_ns, greatest(start_ns, busy_until) as from_ns,
           greatest(end_ns, start_ns, busy_until) as to_ns
    from swept
  ) disjoint
), ends as (
  -- which 1: the part of a span in its first bin. 2: its part in its last bin, if that is another;
  -- the bins between are full. 3: counts the activity
  select device, which,
         case which when 1 then first_bin when 2 then last_bin else start_bin end as bin,
         sum(case when which = 1 and first_bin = last_bin then to_ns - from_ns
                  when which = 1 then first_bin + 100000000 - from_ns
                  when which = 2 then to_ns - last_bin
                  else 0 end) as part_ns,
         -- full bins begin after the first bin and end before the last one
         sum(case when first_bin = last_bin or which = 3 then 0
                  when which = 1 then 1 else -1 end) as crossings,
         count(case when which = 3 then 1 end) as activities
  from spans
  cross join (select 1 as which union all select 2 union all select 3) parts
  where which <> 2 or first_bin <> last_bin
  group by device, which,
           case which when 1 then first_bin when 2 then last_bin else start_bin end
), by_bin as (
  select device, bin,
         sum(part_ns) as part_ns,
         sum(case when which = 1 then crossings else 0 end) as begun,
         sum(case when which = 2 then crossings else 0 end) as ended,
         sum(activities) as activities
  from ends
  group by device, bin
), digits as (
  select 0 as n union all select 1 union all select 2 union all select 3 union all select 4
  union all select 5 union all select 6 union all select 7 union all select 8 union all select 9
), thousand as (
  select 100 * a.n + 10 * b.n + c.n as n from digits a cross join digits b cross join digits c
), devices_bins as (
  select device, min(bin) as first_bin, (max(bin) - min(bin)) as length
  from by_bin
  group by device
), millions as (
  -- numbers of all bins of each device, by digits, so that no more are made than needed
  select device, first_bin, length, cast(n as bigint) * 1000000 as n
  from devices_bins join thousand on cast(n as bigint) * 1000000 * 100000000 <= length
), thousands as (
  select m.device as device, m.first_bin as first_bin, m.length as length, m.n + t.n * 1000 as n
  from millions m join thousand t on (m.n + t.n * 1000) * 100000000 <= m.length
), bins as (
  select h.device as device, h.first_bin + (h.n + t.n) * 100000000 as bin
  from thousands h join thousand t on (h.n + t.n) * 100000000 <= h.length
), filled as (
  select b.device as device, b.bin as bin,
         coalesce(p.part_ns, 0) as part_ns,
         coalesce(p.activities, 0) as activities,
         -- spans that begun before this bin and end after it: 0 or 1
         sum(coalesce(p.begun, 0)) over (
           partition by b.device order by b.bin
           rows between unbounded preceding and current row)
         - coalesce(p.begun, 0)
         + sum(coalesce(p.ended, 0)) over (
           partition by b.device order by b.bin
           rows between unbounded preceding and current row) as across
  from bins b
  left join by_bin p on p.bin = b.bin and coalesce(p.device, -1) = coalesce(b.device, -1)
)
select device, bin as bin_start_ns,
       cast(part_ns + across * 100000000 as bigint) as busy_ns,
       cast(part_ns + across * 100000000 as double) / 100000000 as busy_share,
       cast(activities as bigint) as activities
from filled
order by device, bin
