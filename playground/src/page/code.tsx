import { useState } from 'preact/hooks'
import type { CodeChoice } from './code-choice.ts'
import { CodeEditor } from './code-editor.tsx'
import { fragmentOf } from './code-link.ts'
import { CodeNotes } from './code-notes.tsx'
import type { State } from './model.ts'
import type { Playground } from './state.ts'

interface Shown {
  readonly playground: Playground
  readonly state: State
  readonly choice: CodeChoice
}

/** The reader's code, and what is wrong in it. */
export function Code({ playground, state, choice }: Shown) {
  const { preset, source, given, played, notice } = choice
  const { problem } = state
  return (
    <section class="code" aria-label="Code">
      {preset.closesCard && <OpenCard playground={playground} isOff={state.phase !== 'playing'} />}
      {notice && <p role="status">{notice}</p>}
      <CodeEditor
        {...{ source, given }}
        wrong={source === played ? problem?.line : undefined}
        onSource={choice.edit}
        onPlay={choice.play}
      />
      <div class="bar">
        <button
          type="button"
          class="button"
          disabled={source === played && problem === undefined}
          onClick={choice.play}
        >
          Play this code
        </button>
        {source !== preset.code && (
          <button type="button" class="button" onClick={choice.restore}>
            Back to the example
          </button>
        )}
        <CopyLink choice={choice} />
        {choice.isLoading && (
          <span class="weak" role="status">
            Loading the code…
          </span>
        )}
        <span class="weak">Ctrl + Enter plays it, Tab leaves the editor.</span>
      </div>
      {problem && (
        <p class="s-failed" role="alert">
          {problem.line === undefined ? '' : `Line ${problem.line}: `}
          {problem.message}
          {state.phase === 'playing' && ' What played before goes on.'}
        </p>
      )}
      <CodeNotes playground={playground} state={state} />
    </section>
  )
}

function CopyLink({ choice: { preset, source } }: { readonly choice: CodeChoice }) {
  const [copied, setCopied] = useState<{ readonly source: string; readonly says: string }>()
  const copy = async () => {
    // The address shows it too, also where there is no clipboard.
    window.history.replaceState(null, '', await fragmentOf(preset, source))
    const says = await navigator.clipboard.writeText(location.href).then(
      () => 'Copied.',
      () => 'It stands in the address bar.',
    )
    setCopied({ source, says })
  }
  return (
    <>
      <button type="button" class="button" onClick={() => void copy()}>
        Copy link
      </button>
      <span class="weak" role="status">
        {copied?.source === source ? copied.says : ''}
      </span>
    </>
  )
}

function OpenCard({ playground, isOff }: { readonly playground: Playground; readonly isOff: boolean }) {
  const [says, setSays] = useState('')
  const open = async () => {
    await playground.sql(`update shop.services set open = true where name = 'card'`)
    setSays('It is open.')
  }
  return (
    <p>
      <button
        type="button"
        class="button"
        disabled={isOff}
        onClick={() => void open().catch((error: Error) => setSays(error.message))}
      >
        Open the card service
      </button>{' '}
      <span class="weak" role="status">
        {says}
      </span>
    </p>
  )
}
