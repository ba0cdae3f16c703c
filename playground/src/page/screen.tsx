import { useEffect, useMemo, useState } from 'preact/hooks'
import { useCell } from '../../../packages/dashboard/ui/src/stored.ts'
import { PRESETS } from '../presets/index.ts'
import { isFreshAsked, startAfresh } from './afresh.ts'
import { Refusal } from './asked.tsx'
import { Claim } from './claim.tsx'
import { Code } from './code.tsx'
import { KeysDialog, usePlayKeys } from './keys.tsx'
import { Ledger } from './ledger.tsx'
import { Opening } from './opening.tsx'
import { RunView } from './run-view.tsx'
import { RunList } from './runs.tsx'
import { Said } from './said.tsx'
import { Sql } from './sql.tsx'
import { Playground, type State } from './state.ts'
import { StickyBar } from './sticky-bar.tsx'
import { StoredRows } from './stored-rows.tsx'
import { Story } from './story.tsx'
import { Tabs } from './tabs.tsx'
import { Top } from './top.tsx'
import { TourPanel, useTour } from './tour.tsx'
import { useNarrow } from './use-narrow.ts'
import { Workers } from './workers.tsx'

export function Screen() {
  const playground = useMemo(() => new Playground(), [])
  const state = useCell(playground.state)
  const [preset, setPreset] = useState(PRESETS[0]!)
  const [source, setSource] = useState(preset.code)
  const [isKeysShown, setKeysShown] = useState(false)
  const keysRefusal = usePlayKeys(playground, () => setKeysShown(true))
  const tour = useTour({ state, preset })
  const isNarrow = useNarrow()
  useOpen(playground, source)
  const choose = (chosen: typeof preset) => {
    setPreset(chosen)
    setSource(chosen.code)
    void playground.play(chosen.code)
  }
  const code = (
    <Code
      key="code"
      {...{ preset, source, onSource: setSource }}
      problem={state.problem}
      onPlay={() => void playground.play(source)}
    />
  )
  return (
    <div class="screen">
      <Top
        {...{ playground, state, preset }}
        onPreset={choose}
        onTour={tour.begin}
        onKeys={() => setKeysShown(true)}
      />
      <div class="notices">
        {state.failure && <Failure state={state} message={state.failure.message} />}
        <Refusal of={keysRefusal} />
        <TourPanel tour={tour} />
      </div>
      <main>
        <p class="try">{preset.try}</p>
        {!isNarrow && code}
        <Stage key="stage" {...{ playground, state }} />
        <div key="side" class="side">
          <Workers {...{ playground, state }} />
          <Ledger {...{ playground, state }} />
          <Story lines={state.story} />
        </div>
        {isNarrow && code}
      </main>
      {isNarrow && <StickyBar {...{ playground, state }} />}
      <Said state={state} tour={tour.step?.sentence} />
      {isKeysShown && <KeysDialog onClose={() => setKeysShown(false)} />}
    </div>
  )
}

/** Opens and plays once. What nothing else catches is the page's own failure. */
function useOpen(playground: Playground, source: string): void {
  useEffect(() => {
    addEventListener('unhandledrejection', ({ reason }) => playground.fail(reason))
    addEventListener('error', ({ error }) => error && playground.fail(error))
    void playground.open(isFreshAsked()).then(() => playground.play(source))
  }, [])
}

function Failure({ state: { phase }, message }: { readonly state: State; readonly message: string }) {
  return (
    <div class="failure s-failed" role="alert">
      <p>
        {phase === 'stopped' ? 'The playground cannot go on' : 'The page failed, and may not show all'}:{' '}
        {message}
      </p>
      <button type="button" class="button main" onClick={startAfresh}>
        Start afresh
      </button>
    </div>
  )
}

/** The runs, the selected one, and what stands in the database. */
function Stage({ playground, state }: { readonly playground: Playground; readonly state: State }) {
  return (
    <div class="stage">
      {state.phase === 'opening' && <Opening progress={state.progress} />}
      <RunList {...{ playground, state }} />
      <RunView {...{ playground, state }} />
      <Tabs
        label="In the database"
        tabs={[
          { name: 'Rows', children: <StoredRows state={state} /> },
          { name: 'Claim', children: <Claim state={state} /> },
          { name: 'SQL', children: <Sql playground={playground} /> },
        ]}
      />
    </div>
  )
}
