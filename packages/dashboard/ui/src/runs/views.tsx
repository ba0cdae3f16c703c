import { Link } from 'wouter'
import { zone } from '../settings.ts'
import { LIVE } from '../status.ts'
import { useCell } from '../stored.ts'
import { searchOf, termsOf } from './filter.ts'
import { SaveView, useNamedViews } from './saved-views.tsx'

/** Filters that are asked for often. */
export function Views({ query }: { readonly query: string }) {
  useCell(zone)
  const views: readonly (readonly [string, string])[] = [
    ['All', ''],
    ['Needs a person', statuses(['compensation_failed', 'parked'])],
    ['Live', statuses(LIVE)],
    ['Failed today', `status=failed&since=${midnight()}`],
    ...useNamedViews().map(({ name, query }) => [name, searchOf(termsOf(query))] as const),
  ]
  return (
    <nav class="views" aria-label="Views">
      {views.map(([name, search]) => (
        <Link
          key={`${name} ${search}`}
          href={`/runs${search && `?${search}`}`}
          aria-current={query === search ? 'true' : undefined}
        >
          {name}
        </Link>
      ))}
      <SaveView query={query} />
    </nav>
  )
}

function statuses(names: readonly string[]): string {
  return names.map((name) => `status=${name}`).join('&')
}

/** The begin of today, in the zone that is shown. */
function midnight(): number {
  const now = new Date()
  return zone.get() === 'UTC' ? now.setUTCHours(0, 0, 0, 0) : now.setHours(0, 0, 0, 0)
}
