import { useRef, useState } from 'preact/hooks'
import { Link } from 'wouter'
import { addressOfPair } from '../compare/ask.tsx'
import { useKeys } from '../keys.ts'
import { addressOf } from '../repairs/asked.ts'

/** Runs of one page that somebody has chosen. */
export interface Selection {
  readonly ids: ReadonlySet<string>
  /** Chooses them all, or none of them if all are chosen. */
  readonly flip: (ids: readonly string[]) => void
  readonly clear: () => void
}

export function useSelection(): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const flip = (some: readonly string[]) =>
    setIds((before) => {
      const areAll = some.every((id) => before.has(id))
      return new Set(areAll ? [...before].filter((id) => !some.includes(id)) : [...before, ...some])
    })
  return { ids, flip, clear: () => setIds(new Set<string>()) }
}

const VERBS = [
  ['retry', 'Retry…'],
  ['cancel', 'Cancel…'],
  ['pause', 'Pause…'],
] as const

/** What may be done with the chosen runs, or with all of the filter. */
export function SelectionBar({
  selection: { ids, clear },
  query,
}: {
  readonly selection: Selection
  readonly query: string
}) {
  const bar = useRef<HTMLElement>(null)
  // An id begins with its time: the older one comes first.
  const [first, second] = [...ids].toSorted()
  useKeys(ids.size === 0 ? {} : { a: () => bar.current?.querySelector('a')?.focus() })
  return (
    <>
      <p class="sr" role="status">
        {ids.size > 0 && `${ids.size} selected`}
      </p>
      {ids.size > 0 && (
        <section ref={bar} class="selection" aria-label="Selected runs">
          <b>{ids.size} selected</b>
          {VERBS.map(([verb, name]) => (
            <Link key={verb} class="button" href={addressOf({ verb, runs: [...ids] })}>
              {name}
            </Link>
          ))}
          {ids.size === 2 && (
            <Link class="button" href={addressOfPair(first!, second!)}>
              Compare
            </Link>
          )}
          <Link class="quiet" href={addressOf({ query })}>
            All that match
          </Link>
          <button type="button" class="quiet" onClick={clear}>
            Clear <kbd>Esc</kbd>
          </button>
        </section>
      )}
    </>
  )
}
