import { Dialog } from '../../../packages/dashboard/ui/src/dialog.tsx'
import { useKeys } from '../../../packages/dashboard/ui/src/keys.ts'
import { keys } from '../../../packages/dashboard/ui/src/settings.ts'
import { useCell } from '../../../packages/dashboard/ui/src/stored.ts'
import { useAsked } from './asked.tsx'
import type { Playground } from './state.ts'

const KEYS = [
  ['s', 'Start a run'],
  ['c', 'Crash the worker that works'],
  ['← →', 'Next run, step or panel'],
  ['Esc', 'Leave the tour'],
  ['?', 'Show the keys'],
] as const

export function KeysDialog({ onClose }: { readonly onClose: () => void }) {
  const letters = useCell(keys)
  return (
    <Dialog label="Keys" class="narrow" onClose={onClose}>
      <h2>Keys</h2>
      <dl class="keys one-column">
        {KEYS.map(([key, does]) => (
          <div key={key}>
            <dt>{does}</dt>
            <dd>
              <kbd>{key}</kbd>
            </dd>
          </div>
        ))}
      </dl>
      <label class="check">
        <input
          type="checkbox"
          checked={letters === 'on'}
          onChange={() => keys.set(letters === 'on' ? 'off' : 'on')}
        />
        Letters are keys
      </label>
      <div class="dialog-buttons">
        <button type="button" class="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}

/** Binds them. What one of them cannot do is the refusal. */
export function usePlayKeys(playground: Playground, onKeys: () => void): string | undefined {
  const { refusal, ask } = useAsked()
  useKeys({
    s: () =>
      void ask(() => {
        if (playground.state.get().phase !== 'playing') throw new Error('No run can start: it does not play.')
        return playground.start(1)
      }),
    c: () => void ask(() => crashTheWorking(playground)),
    '?': onKeys,
  })
  return refusal
}

/** The worker that executes a step of the selected run, else of any. */
function crashTheWorking(playground: Playground): void {
  const { workers, selected } = playground.state.get()
  const working = workers.filter(({ state, steps }) => state === 'live' && steps.length > 0)
  const worker = working.find(({ steps }) => steps.some(({ runId }) => runId === selected)) ?? working[0]
  if (worker === undefined) throw new Error('No worker executes a step now: start a run first.')
  playground.crash(worker.name)
}
