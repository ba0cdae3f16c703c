import { useEffect, useState } from 'preact/hooks'
import type { State } from './model.ts'
import { Scroll } from './scroll.tsx'
import type { Playground } from './state.ts'

/** Above these, development mode gives numbers of its own. */
const DERIVED_FROM = 1_000_000_000
const EVERY_MS = 5_000

/** What has become of the runs of earlier code. */
export function CodeNotes({ playground, state }: { readonly playground: Playground; readonly state: State }) {
  const forgotten = useForgotten(playground, state.phase === 'playing')
  const derived = state.runs.find(({ version }) => version >= DERIVED_FROM)
  if (derived === undefined && forgotten.length === 0) return null
  return (
    <div class="code-notes">
      <Scroll label="Runs of earlier code">
        {derived && (
          <p class="weak" role="status">
            Edited code that changes the steps gets a version of its own, as in development: version{' '}
            {derived.version} of {derived.workflow}. Runs of version 1 do not go on with it.
          </p>
        )}
        {forgotten.map((sentence) => (
          <p key={sentence} role="status">
            {sentence} They wait until their code plays again.
          </p>
        ))}
      </Scroll>
    </div>
  )
}

/** The doctor's sentences of versions that have runs and no worker. */
function useForgotten(playground: Playground, isPlaying: boolean): readonly string[] {
  const [forgotten, setForgotten] = useState<readonly string[]>([])
  useEffect(() => {
    if (!isPlaying) return setForgotten([])
    const ask = async () => {
      if (document.hidden) return
      // While the database is cut off, the newest answer stays.
      setForgotten(await playground.ask<readonly string[]>({ do: 'forgotten' }).catch(() => forgotten))
    }
    const timer = setInterval(() => void ask(), EVERY_MS)
    return () => clearInterval(timer)
  }, [isPlaying])
  return forgotten
}
