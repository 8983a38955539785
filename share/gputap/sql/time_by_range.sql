-- SPDX-License-Identifier: MIT
-- Time in ranges of the program and in operators of frameworks, by name: table ranges of `gputap
-- report`. The time of a range includes nested ranges.
--   name, scope, category   text of the range; NVTX domain and category, or NULL
--   count                   number of ranges
--   total_ns                time in these ranges; NULL: only marks have this text
--   mean_ns, min_ns, max_ns
--   markers                 number of marks with this text, which have no duration
select name, scope, category, count, total_ns,
       cast(round((total_ns - total_ns % nullif(count, 0)) / nullif(count, 0)) as bigint)
         as mean_ns,
       min_ns, max_ns, markers
from (
  select name, scope, category,
         count(case when kind <> 'mark' then 1 end) as count,
         cast(sum(case when kind <> 'mark' then duration_ns end) as bigint) as total_ns,
         min(case when kind <> 'mark' then duration_ns end) as min_ns,
         max(case when kind <> 'mark' then duration_ns end) as max_ns,
         count(case when kind = 'mark' then 1 end) as markers
  from ranges
  group by name, scope, category
) of_range
order by total_ns desc
