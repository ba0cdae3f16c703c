import type { Problem } from '../messages.ts'
import type { Preset } from '../presets/index.ts'

/** The reader's code, and what is wrong in it. */
export function Code({
  preset,
  source,
  onSource,
  onPlay,
  problem,
}: {
  readonly preset: Preset
  readonly source: string
  readonly onSource: (source: string) => void
  readonly onPlay: () => void
  readonly problem: Problem | undefined
}) {
  return (
    <section class="code" aria-label="Code">
      <textarea
        aria-label="Code in TypeScript"
        spellcheck={false}
        value={source}
        onInput={({ currentTarget }) => onSource(currentTarget.value)}
      />
      <div class="bar">
        <button
          type="button"
          class="button"
          disabled={source === preset.code && problem === undefined}
          onClick={onPlay}
        >
          Play this code
        </button>
        {problem && (
          <p class="s-failed" role="alert">
            {problem.line === undefined ? '' : `Line ${problem.line}: `}
            {problem.message}
          </p>
        )}
      </div>
    </section>
  )
}
