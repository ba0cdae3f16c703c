import { useState } from 'preact/hooks'
import { Dialog } from '../../../packages/dashboard/ui/src/dialog.tsx'
import { VERBS, type VerbWords } from '../../../packages/dashboard/ui/src/run/verbs.ts'
import type { Look } from '../messages.ts'
import { Refusal, useAsked } from './asked.tsx'
import type { Playground } from './state.ts'

interface Offered {
  readonly verb: keyof typeof VERBS
  readonly step: string
  readonly words: VerbWords
}

/** The buttons that help the run, in the dashboard's words. What one asks for is asked first. */
export function Actions({ playground, look }: { readonly playground: Playground; readonly look: Look }) {
  const { refusal, ask } = useAsked()
  const [asking, setAsking] = useState<Offered>()
  const offered = offeredBy(look)
  const act = ({ verb, step }: Offered, payload?: unknown) =>
    void ask(() => playground.act(verb, step, payload))
  return (
    <>
      <div class="row run-actions">
        {offered.map((one, index) => (
          <button
            key={`${one.step} ${one.verb}`}
            type="button"
            class={index === 0 ? 'button main' : 'button'}
            data-verb={one.verb}
            title={`${one.words.title} ${one.step}`}
            onClick={() => (one.words.asks === undefined ? act(one) : setAsking(one))}
          >
            {one.words.button}
            {offered.some((other) => other.verb === one.verb && other !== one) && ` ${one.step}`}
          </button>
        ))}
      </div>
      <Refusal of={refusal} />
      {asking && (
        <AskDialog
          offered={asking}
          onGo={(payload) => act(asking, payload)}
          onClose={() => setAsking(undefined)}
        />
      )}
    </>
  )
}

function offeredBy({ open }: Look): readonly Offered[] {
  return open.flatMap(({ step, actions }) =>
    actions.flatMap(({ verb, step: of = step }) =>
      isVerb(verb) && verb !== 'setPriority' ? [{ verb, step: of, words: VERBS[verb] }] : [],
    ),
  )
}

function isVerb(verb: string): verb is keyof typeof VERBS {
  return verb in VERBS
}

function AskDialog({
  offered: { words, step },
  onGo,
  onClose,
}: {
  readonly offered: Offered
  readonly onGo: (payload: unknown) => void
  readonly onClose: () => void
}) {
  const [text, setText] = useState('')
  const { refusal, ask } = useAsked()
  const submit = (event: Event) => {
    event.preventDefault()
    void ask(() => {
      onGo(text.trim() === '' ? undefined : JSON.parse(text))
      onClose()
    })
  }
  const title = `${words.title} ${step}`
  return (
    <Dialog label={title} class="narrow" onClose={onClose}>
      <form onSubmit={submit}>
        <h2>{title}</h2>
        <label>
          {words.asks === 'output' ? 'Its output instead, as JSON' : 'Payload, as JSON; may be empty'}
          <textarea rows={3} value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
        </label>
        <Refusal of={refusal} />
        <div class="dialog-buttons">
          <button type="submit" class="button main">
            {words.go}
          </button>
          <button type="button" class="button" onClick={onClose}>
            Leave it
          </button>
        </div>
      </form>
    </Dialog>
  )
}
