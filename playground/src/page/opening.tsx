import type { State } from './model.ts'

/** Lies above the stage's first line while it opens, so that nothing moves when it is done. */
export function Opening({ progress: { part, what } }: Pick<State, 'progress'>) {
  return (
    <div class="opening">
      <progress value={part} max={1} aria-label="Opening" />
      <p>{what}…</p>
    </div>
  )
}
