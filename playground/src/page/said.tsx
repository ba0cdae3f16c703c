import { useRef } from 'preact/hooks'
import { wordOf } from '../../../packages/dashboard/ui/src/status.ts'
import { nameOf } from '../../../packages/dashboard/ui/src/words.ts'
import type { State } from './model.ts'

/**
 * The page's live region: how the selected run stands, which worker is gone, and what the tour says. Only what is new is said, and what the drawings count down
 * is not.
 */
export function Said({ state, tour }: { readonly state: State; readonly tour: string | undefined }) {
  const said = useRef({ known: [] as readonly string[], text: '' })
  const parts = partsOf(state, tour)
  if (parts.join() !== said.current.known.join()) {
    const text = parts.filter((part) => !said.current.known.includes(part)).join(' ')
    said.current = { known: parts, text }
  }
  return (
    <p class="sr" role="status">
      {said.current.text}
    </p>
  )
}

function partsOf({ phase, progress, look, workers }: State, tour: string | undefined): readonly string[] {
  if (phase === 'opening') return [`${progress.what}…`]
  return [
    ...(tour === undefined ? [] : [tour]),
    ...(look === undefined ? [] : [`${nameOf(look.run)}: ${wordOf(look.run.status)}.`]),
    ...workers.filter(({ state }) => state === 'crashed').map(({ name }) => `Worker ${name} is gone.`),
  ]
}
