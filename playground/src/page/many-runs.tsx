import { useState } from 'preact/hooks'
import { Dialog } from '../../../packages/dashboard/ui/src/dialog.tsx'
import { figure } from '../../../packages/dashboard/ui/src/words.ts'
import type { Many } from './many.ts'

const COUNT = 10_000

/** Says what it does before it does it. */
export function ManyButton({
  isOff,
  onGo,
}: {
  readonly isOff: boolean
  readonly onGo: (count: number) => void
}) {
  const [isAsking, setAsking] = useState(false)
  const close = () => setAsking(false)
  const go = () => {
    close()
    onGo(COUNT)
  }
  return (
    <>
      <button type="button" class="button" disabled={isOff} onClick={() => setAsking(true)}>
        {figure(COUNT)} runs
      </button>
      {isAsking && (
        <Dialog label={`${figure(COUNT)} runs`} class="narrow" onClose={close}>
          <h2>Start {figure(COUNT)} runs?</h2>
          <p>
            They stay in this database. Until they have ended, the work of a step takes no time, only Belay
            and PostgreSQL do, and each worker has 50 slots instead of 4. It takes a minute or two, and most
            of two processors.
          </p>
          <div class="dialog-buttons">
            <button type="button" class="button main" onClick={go}>
              Start them
            </button>
            <button type="button" class="button" onClick={close}>
              Leave it
            </button>
          </div>
        </Dialog>
      )}
    </>
  )
}

export function ManyFigure({ many }: { readonly many: Many }) {
  const { of, started, ended, perSecond } = many
  return (
    <p class="many">
      <progress value={ended} max={of} aria-label="Runs that have ended" />
      <b>{figure(ended)}</b> of {figure(of)} runs have ended{started < of && `, ${figure(started)} started`}
      {perSecond && (
        <span class="weak">
          {figure(perSecond.runs)} runs/s, {figure(perSecond.steps)} steps/s
        </span>
      )}
    </p>
  )
}
