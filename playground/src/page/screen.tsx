import { useMemo } from 'preact/hooks'
import { useCell } from '../../../packages/dashboard/ui/src/stored.ts'
import { Code } from './code.tsx'
import { useCodeChoice } from './code-choice.ts'
import { Ledger } from './ledger.tsx'
import { RunView } from './run-view.tsx'
import { RunList } from './runs.tsx'
import { Sql } from './sql.tsx'
import { Playground } from './state.ts'
import { StoredRows } from './stored-rows.tsx'
import { Story } from './story.tsx'
import { Top } from './top.tsx'
import { Workers } from './workers.tsx'

export function Screen() {
  const playground = useMemo(() => new Playground(), [])
  const state = useCell(playground.state)
  const choice = useCodeChoice(playground)
  return (
    <>
      <Top {...{ playground, state }} preset={choice.preset} onPreset={choice.choose} />
      <main>
        <div class="column">
          <Code {...{ playground, state, choice }} />
          <Sql playground={playground} />
        </div>
        <div class="column">
          <RunList {...{ playground, state }} />
          <RunView {...{ playground, state }} />
          <StoredRows state={state} />
        </div>
        <div class="column">
          <Workers {...{ playground, state }} />
          <Ledger state={state} />
          <Story lines={state.story} />
        </div>
      </main>
    </>
  )
}
