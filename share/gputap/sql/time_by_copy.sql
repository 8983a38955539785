-- SPDX-License-Identifier: MIT
-- Time, bytes and rate of copies, memsets, maps and migrations: table copies of `gputap report`.
--   domain, device, kind   API, number of the device, direction: memcpy H2D, memset, ..
--   name                   CUDA: also the kinds of memory, 'Memcpy HtoD (Pageable -> Device)';
--                          otherwise NULL
--   count                  number of copies
--   bytes                  bytes of all copies
--   total_ns               time of those whose times are known; NULL: no times are known
--   mean_ns, min_ns, max_ns
--   bytes_per_s            rate of those whose times are known; NULL for maps, which may move
--                          nothing
--   failed                 number of copies that failed
select domain, device, kind, name, count, bytes, total_ns,
       cast(round((total_ns - total_ns % timed) / timed) as bigint) as mean_ns,
       min_ns, max_ns,
       case when kind not in ('map', 'unmap')
            then cast(nullif(timed_bytes, 0) as double) * 1000000000 / nullif(total_ns, 0)
       end as bytes_per_s,
       failed
from (
  select domain, device, kind, name,
         count(*) as count,
         nullif(count(duration_ns), 0) as timed,
         cast(coalesce(sum(bytes), 0) as bigint) as bytes,
         cast(sum(case when duration_ns is not null then bytes end) as bigint) as timed_bytes,
         cast(sum(duration_ns) as bigint) as total_ns,
         min(duration_ns) as min_ns,
         max(duration_ns) as max_ns,
         count(case when status < 0 then 1 end) as failed
  from (
    select domain, device, kind, duration_ns, bytes, status,
           case when name like 'Mem%' then name end as name
    from activities
    where kind in ('memcpy D2H', 'memcpy H2D', 'memcpy D2D', 'memset', 'map', 'unmap', 'migrate')
  ) copies
  group by domain, device, kind, name
) of_copy
order by total_ns desc
