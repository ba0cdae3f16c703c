import { Link, useLocation } from 'wouter'
import { Icon } from '../icons.tsx'
import { useKeys } from '../keys.ts'

interface PagerProps {
  readonly query: string
  /** The run that newer ones are newer than; undefined on the newest page. */
  readonly newer: string | undefined
  /** The run that older ones are older than; undefined on the oldest page. */
  readonly older: string | undefined
}

/** Pages by key: each begins where the other ended, however many runs have come since. */
export function Pager({ query, newer, older }: PagerProps) {
  const [, navigate] = useLocation()
  const to = (side: 'before' | 'after', id: string) => `/runs?${query}${query && '&'}${side}=${id}`
  useKeys({
    '[': () => newer !== undefined && navigate(to('after', newer)),
    ']': () => older !== undefined && navigate(to('before', older)),
  })
  if (newer === undefined && older === undefined) return null
  return (
    <nav class="pager" aria-label="Pages">
      {newer !== undefined && (
        <>
          <Link class="button" href={`/runs${query && `?${query}`}`}>
            Newest
          </Link>
          <Link class="button" href={to('after', newer)}>
            <Icon name="left" />
            Newer
          </Link>
        </>
      )}
      {older !== undefined && (
        <Link class="button" href={to('before', older)}>
          Older
          <Icon name="right" />
        </Link>
      )}
    </nav>
  )
}
