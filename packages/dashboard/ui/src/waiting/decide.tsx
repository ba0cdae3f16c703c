import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'preact/hooks'
import type { Wait } from '../../../src/api/waiting.ts'
import type { ActionRequest, ActionResult } from '../../../src/api.ts'
import { AskDialog, Reason } from '../ask-dialog.tsx'
import { VERBS } from '../run/verbs.ts'
import { withTimes } from '../shell/times.ts'
import { counted, nameOf } from '../words.ts'
import { write } from '../write.ts'

export type Decision = Extract<ActionRequest['verb'], 'approve' | 'reject'>

const DONE: Readonly<Record<Decision, string>> = { approve: 'approved', reject: 'rejected' }

type Told = ReadonlyMap<Wait, ActionResult>

/** Several decisions with one comment. Each is told for itself: some may be refused. */
export function DecideDialog({
  verb,
  waits,
  onClose,
}: {
  readonly verb: Decision
  readonly waits: readonly Wait[]
  readonly onClose: () => void
}) {
  const [comment, setComment] = useState('')
  const [told, tell] = useState<Told>()
  const [isDoing, setDoing] = useState(false)
  const client = useQueryClient()
  const decide = async () => {
    setDoing(true)
    const results = new Map<Wait, ActionResult>()
    for (const wait of waits) results.set(wait, await decided(verb, wait, comment.trim()))
    tell(results)
    setDoing(false)
    await client.invalidateQueries()
  }
  const { go, reason = '' } = VERBS[verb]
  return (
    <AskDialog
      title={`${go} ${counted(waits.length, 'step')}`}
      go={told === undefined && go}
      isReady={!isDoing && comment.trim() !== ''}
      onGo={() => void decide()}
      onClose={onClose}
    >
      {told === undefined ? (
        <>
          <Asked waits={waits} />
          <Reason reason={comment} onReason={setComment}>
            {reason}
          </Reason>
        </>
      ) : (
        <Outcomes verb={verb} told={told} />
      )}
    </AskDialog>
  )
}

async function decided(verb: Decision, { runId, step }: Wait, reason: string): Promise<ActionResult> {
  try {
    return await write<ActionResult>(`runs/${runId}/actions`, { verb, step, reason, dryRun: false })
  } catch (error) {
    return { changed: false, sentence: (error as Error).message, refused: 'error' }
  }
}

function Asked({ waits }: { readonly waits: readonly Wait[] }) {
  return (
    <ul class="asked">
      {waits.map((wait) => (
        <li key={`${wait.runId} ${wait.step}`}>
          <b>{wait.step}</b> of {nameOf({ ...wait, id: wait.runId })} <About wait={wait} />
        </li>
      ))}
    </ul>
  )
}

function Outcomes({ verb, told }: { readonly verb: Decision; readonly told: Told }) {
  const refused = [...told].filter(([, { refused }]) => refused !== undefined)
  return (
    <>
      <p class={refused.length === 0 ? 'outcome' : 'outcome refused'} role="status">
        {counted(told.size - refused.length, 'step')} {DONE[verb]}
        {refused.length > 0 && `, ${refused.length} refused`}.
      </p>
      <ul class="asked">
        {refused.map(([wait, { sentence }]) => (
          <li key={`${wait.runId} ${wait.step}`}>
            <b>{wait.step}</b> of {nameOf({ ...wait, id: wait.runId })}: {withTimes(sentence)}
          </li>
        ))}
      </ul>
    </>
  )
}

/** What is to be decided: plain fields of the input, else the tags. */
export function About({ wait: { decided } }: { readonly wait: Wait }) {
  if (decided === undefined) return null
  const { fields, tags } = decided
  if (fields.length === 0) return tags.length === 0 ? null : <span class="about">{tags.join(', ')}</span>
  return (
    <span class="about">
      {fields.map(({ name, value }) => (
        <span key={name}>
          <span class="weak">{name}</span> {value}
        </span>
      ))}
    </span>
  )
}
