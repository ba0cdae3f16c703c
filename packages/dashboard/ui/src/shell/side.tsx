import { type GlyphState, glyphOf } from '@belay/graph-view'
import type { ComponentChildren } from 'preact'
import { Link, useLocation, useSearch } from 'wouter'
import type { Overview } from '../../../src/api.ts'
import { downSince } from '../answer.tsx'
import { Glyph } from '../glyph.tsx'
import { Icon, Mark } from '../icons.tsx'
import { SCREENS, type Screen } from '../screens.ts'
import { LIVE, wordOf } from '../status.ts'
import { useCell } from '../stored.ts'
import { capped } from '../words.ts'

interface SideProps {
  readonly overview: Overview | undefined
  readonly title: string | undefined
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** The navigation, with counts. On a narrow screen a drawer. */
export function Side({ overview, title, isOpen, onClose }: SideProps) {
  const isDown = useCell(downSince) !== undefined
  return (
    <>
      {isOpen && <div class="veil" onClick={onClose} aria-hidden="true" />}
      <nav class={`side${isOpen ? ' open' : ''}${isDown ? ' stale' : ''}`} id="side" aria-label="Screens">
        <div class="brand">
          <Mark /> Belay <small>{title}</small>
          <button type="button" class="quiet menu" aria-label="Close the navigation" onClick={onClose}>
            <Icon name="close" />
          </button>
        </div>
        <Places overview={overview} />
        <Places overview={overview} group="Act" />
        <Places overview={overview} group="Operate" />
        <LiveRuns counts={overview?.liveRuns} />
        <footer>
          <div>
            Press <kbd>?</kbd> for the keys
          </div>
        </footer>
      </nav>
    </>
  )
}

function LiveRuns({ counts }: { readonly counts: Overview['liveRuns'] | undefined }) {
  const shown = LIVE.filter(
    (status) => status !== 'compensation_failed' && (counts?.[status]?.count ?? 0) > 0,
  )
  if (shown.length === 0) return null
  return (
    <>
      <h2>Live runs</h2>
      {shown.map((status) => (
        <Place key={status} to={`/runs?status=${status}`} count={capped(counts![status]!)}>
          <Glyph state={glyphOf(status)} />
          {wordOf(status)}
        </Place>
      ))}
    </>
  )
}

/** The screens of a group. */
function Places({
  overview,
  group,
}: {
  readonly overview: Overview | undefined
  readonly group?: Screen['group']
}) {
  return (
    <>
      {group && <h2>{group}</h2>}
      {SCREENS.filter((screen) => screen.group === group).map(({ to, name, count, isHot }) => {
        const figures = overview && count?.(overview)
        return (
          <Place
            key={to}
            to={to}
            count={figures && capped(figures)}
            hot={isHot && figures !== undefined && figures.count > 0 ? 'parked' : undefined}
          >
            {name}
          </Place>
        )
      })}
    </>
  )
}

interface PlaceProps {
  readonly to: string
  readonly count?: string | undefined
  readonly hot?: GlyphState | undefined
  readonly children: ComponentChildren
}

function Place({ to, count, hot, children }: PlaceProps) {
  const [place] = useLocation()
  const search = useSearch()
  const isHere = to === `${place}${search && `?${search}`}` || to === place || place.startsWith(`${to}/`)
  return (
    <Link href={to} class="place" aria-current={isHere ? 'page' : undefined}>
      {children}
      {count !== undefined && (
        <span class={hot ? `count hot s-${hot}` : 'count'}>
          {hot && <Glyph state={hot} />}
          {count}
        </span>
      )}
    </Link>
  )
}
