import { useEffect, useMemo, useState } from 'preact/hooks'
import { useCell } from '../../../packages/dashboard/ui/src/stored.ts'
import { PRESETS } from '../presets/index.ts'
import { Code } from './code.tsx'
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
  const [preset, setPreset] = useState(PRESETS[0]!)
  const [source, setSource] = useState(preset.code)
  useEffect(() => {
    void playground.open().then((isOpen) => (isOpen ? playground.play(source) : undefined))
  }, [])
  return (
    <>
      <Top
        {...{ playground, state, preset }}
        onPreset={(chosen) => {
          setPreset(chosen)
          setSource(chosen.code)
          void playground.play(chosen.code)
        }}
      />
      <main>
        <div class="column">
          <Code
            {...{ preset, source, onSource: setSource }}
            problem={state.problem}
            onPlay={() => void playground.play(source)}
          />
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
