import { useState } from 'preact/hooks'
import type { Wait } from '../../../src/api/waiting.ts'
import { MayButton } from '../may-button.tsx'
import type { Selection } from '../runs/selection.tsx'
import { DecideDialog, type Decision } from './decide.tsx'

export function keyOf({ runId, step }: Wait): string {
  return `${runId} ${step}`
}

export function mayDecide({ kind, actions }: Wait): boolean {
  return kind === 'approval' && actions.some(({ denied }) => !denied)
}

/** What can be done with the chosen approvals. The dialog stays when they have gone from the list, to tell what came of it. */
export function DecideBar({
  waits,
  selection: { ids, clear },
}: {
  readonly waits: readonly Wait[]
  readonly selection: Selection
}) {
  const [asked, ask] = useState<readonly [Decision, readonly Wait[]]>()
  const chosen = waits.filter((wait) => ids.has(keyOf(wait)))
  const close = () => {
    ask(undefined)
    clear()
  }
  return (
    <>
      {chosen.length > 0 && (
        <section class="selection" aria-label="Selected approvals">
          <b>{chosen.length} selected</b>
          <MayButton capability="approvals.decide" onClick={() => ask(['approve', chosen])}>
            Approve…
          </MayButton>
          <MayButton capability="approvals.decide" onClick={() => ask(['reject', chosen])}>
            Reject…
          </MayButton>
          <button type="button" class="quiet" onClick={clear}>
            Clear
          </button>
        </section>
      )}
      {asked && <DecideDialog verb={asked[0]} waits={asked[1]} onClose={close} />}
    </>
  )
}
