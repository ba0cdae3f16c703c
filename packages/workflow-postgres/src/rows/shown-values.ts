import type { ValueRecord } from '@belay/workflow/adapter'
import { isHeartbeatKey } from './heartbeat-keys.ts'
import { rowName, templateOf } from './item-rows.ts'
import { stepIs } from './step-lookup.ts'

/**
 * The values of the run `run` as one JSON text, as `readValues` returns them: of each key the latest, and the progress of each step, whose key is ''.
 * In one row, so that a read of the run and its steps has them without a further statement.
 */
export function shownValues(run: string): string {
  return `coalesce((
    select json_agg(json_build_object('step', shown.step, 'name', shown.name, 'key', nullif(shown.key, ''), 'value', shown.value, 'at', shown.at)
      order by shown.key collate "C", shown.step)::text
    from (
      select distinct on (v.key, case when v.key = '' then v.step end) v.step, ${rowName} as name, v.key, v.value::text as value,
        (extract(epoch from v.at) * 1000)::float8 as at
      from belay.workflow_values v
      -- A map that decided its items anew may have dropped the item that told a value.
      join belay.workflow_steps s on s.run_id = any (array[v.run_id]) and ${stepIs('s', 'v.step')}
      join belay.workflow_definition_steps ds on ds.definition_id = any (array[${run}.definition_id]) and ds.step = any (array[${templateOf('v.step')}])
      where v.run_id = any (array[${run}.id]) and not ${isHeartbeatKey('v.key')}
      order by v.key, case when v.key = '' then v.step end, v.at desc, v.step desc
    ) shown
  ), '[]')`
}

export function decodeValues(shown: string): readonly ValueRecord[] {
  return JSON.parse(shown)
}
