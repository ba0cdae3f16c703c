import { useEffect, useMemo, useState } from 'preact/hooks'
import { useCell } from '../../../packages/dashboard/ui/src/stored.ts'
import type { Problem } from '../messages.ts'
import { goOnInMemory, startAfresh } from './afresh.ts'
import { Refusal } from './asked.tsx'
import { Claim } from './claim.tsx'
import { Code } from './code.tsx'
import { useCodeChoice } from './code-choice.ts'
import { KeysDialog, usePlayKeys } from './keys.tsx'
import { Ledger } from './ledger.tsx'
import type { State } from './model.ts'
import { Opening } from './opening.tsx'
import { RunView } from './run-view.tsx'
import { RunList } from './runs.tsx'
import { Said } from './said.tsx'
import { Sql } from './sql.tsx'
import { Playground } from './state.ts'
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
  const choice = useCodeChoice(playground)
  const [isKeysShown, setKeysShown] = useState(false)
  const keysRefusal = usePlayKeys(playground, () => setKeysShown(true))
  const tour = useTour({ state, preset: choice.preset })
  const isNarrow = useNarrow()
  useFailures(playground)
  const code = <Code key="code" {...{ playground, state, choice }} />
  return (
    <div class="screen">
      <Top
        {...{ playground, state }}
        preset={choice.preset}
        onPreset={choice.choose}
        onTour={tour.begin}
        onKeys={() => setKeysShown(true)}
      />
      <div class="notices">
        {state.failure && <Failure phase={state.phase} problem={state.failure} />}
        <Refusal of={keysRefusal} />
        <TourPanel tour={tour} />
      </div>
      <main>
        <p class="try">{choice.preset.try}</p>
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

/** What nothing else catches is the page's own failure. */
function useFailures(playground: Playground): void {
  useEffect(() => {
    addEventListener('unhandledrejection', ({ reason }) => playground.fail(reason))
    addEventListener('error', ({ error }) => error && playground.fail(error))
  }, [])
}

function Failure({
  phase,
  problem: { message, code },
}: {
  readonly phase: State['phase']
  readonly problem: Problem
}) {
  return (
    <div class="failure s-failed" role="alert">
      <p>
        {phase === 'stopped' ? 'The playground cannot go on' : 'The page failed, and may not show all'}:{' '}
        {message}
      </p>
      {code === 'DATABASE_TAKEN' ? (
        <button type="button" class="button main" onClick={goOnInMemory}>
          Use a database in memory
        </button>
      ) : (
        <button type="button" class="button main" onClick={startAfresh}>
          Start afresh
        </button>
      )}
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
