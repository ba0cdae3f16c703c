import type { State } from './model.ts'

/** The newest statement that leased steps, and what it took. */
export function Claim({ state: { statement } }: { readonly state: State }) {
  if (statement === undefined) return <p class="weak">No step was claimed yet.</p>
  const { client, text, ms, rows } = statement
  return (
    <>
      <p>
        Worker {client} claimed {rows === 1 ? 'one step' : `${rows} steps`} in <b>{ms.toFixed(1)} ms</b>. Rows
        that another claim holds are skipped, so no two workers get one step, and none waits.
      </p>
      <pre>
        {partsOf(text.trim()).map((part, index) =>
          SKIPS.test(part) ? <mark key={index}>{part.toUpperCase()}</mark> : part,
        )}
      </pre>
    </>
  )
}

const SKIPS = /^for (?:no key )?(?:update|share)(?: of \w+)? skip locked$/i

function partsOf(text: string): readonly string[] {
  return text.split(/(for (?:no key )?(?:update|share)(?: of \w+)? skip locked)/i)
}
