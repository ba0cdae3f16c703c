import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'preact/hooks'
import { Link, useLocation, useSearch } from 'wouter'
import type { RunPage } from '../../../src/api.ts'
import { downSince } from '../answer.tsx'
import { Icon } from '../icons.tsx'
import { SCREENS } from '../screens.ts'
import { paused, theme } from '../settings.ts'
import { useCell } from '../stored.ts'
import { useNow } from '../use-now.ts'
import { age, nameOf } from '../words.ts'
import { here } from './tab.ts'

/** What stands over the page, one at a time. */
export type Opened = 'palette' | 'keys' | 'display' | 'menu'

interface TopProps {
  readonly open: (what: Opened | undefined) => void
  readonly isMenuOpen: boolean
  /** When the overview was read, by this browser's clock. */
  readonly readAt: number
}

export function Top({ open, isMenuOpen, readAt }: TopProps) {
  return (
    <header class="top">
      <button
        type="button"
        class="quiet menu"
        aria-label="Navigation"
        aria-controls="side"
        aria-expanded={isMenuOpen}
        onClick={() => open('menu')}
      >
        <Icon name="menu" />
      </button>
      <Crumbs />
      <button type="button" class="find" onClick={() => open('palette')}>
        <Icon name="lens" />
        <span>Search or jump</span>
        <kbd>Ctrl K</kbd>
      </button>
      <LiveSwitch readAt={readAt} />
      <button
        type="button"
        class="quiet"
        aria-label="Display"
        title="Theme, density, time zone, keys"
        onClick={() => open('display')}
      >
        <Icon name="sliders" />
      </button>
      <button type="button" class="quiet wide" aria-label="Light or dark" onClick={flipTheme}>
        <Icon name="theme" />
      </button>
    </header>
  )
}

/** The query of the list as it was last seen. */
let list = ''

/** Where this is, and the way back to the list as it was left. */
function Crumbs() {
  const [place] = useLocation()
  const search = useSearch()
  if (place === '/runs') list = search && `?${search}`
  const [screen = '', run] = place.slice(1).split('/')
  const word =
    screen === 'compare' ? 'Compare' : (SCREENS.find(({ to }) => to === `/${screen}`)?.name ?? 'Nowhere')
  useEffect(() => here.set(word), [word, run])
  return (
    <nav class="crumbs" aria-label="Breadcrumb">
      {run === undefined || screen !== 'runs' ? (
        <b aria-current="page">{word}</b>
      ) : (
        <>
          <Link href={`/runs${list}`}>Runs</Link>
          <span aria-hidden="true">/</span>
          <RunCrumb name={decodeURIComponent(run)} />
        </>
      )}
    </nav>
  )
}

/** By workflow and key as soon as the run's screen has read them: nothing is read for it alone. */
function RunCrumb({ name }: { readonly name: string }) {
  const { data } = useQuery<RunPage>({ queryKey: [`runs/${encodeURIComponent(name)}`], enabled: false })
  const own = data === undefined ? name.slice(0, 24) : nameOf(data.run)
  useEffect(() => here.set(own), [own])
  if (data === undefined) return <b aria-current="page">{name.slice(0, 24)}</b>
  return (
    <>
      <span class="wide">{data.run.workflow}</span>
      <span class="wide" aria-hidden="true">
        /
      </span>
      <b aria-current="page">{nameOf(data.run)}</b>
    </>
  )
}

function LiveSwitch({ readAt }: { readonly readAt: number }) {
  const isPaused = useCell(paused)
  const isDown = useCell(downSince) !== undefined
  const now = useNow()
  const read = readAt === 0 ? '' : `, ${age(now - readAt)} ago`
  const word = isPaused ? 'Paused' : isDown ? 'Silent' : readAt === 0 ? 'Unread' : 'Live'
  return (
    <button
      type="button"
      class={`quiet live ${word.toLowerCase()}`}
      aria-pressed={isPaused}
      aria-label={`${word}${read}. Pause`}
      onClick={() => paused.set(!isPaused)}
    >
      <i />
      <span>
        {word}
        {read}
      </span>
    </button>
  )
}

function flipTheme(): void {
  const isDark =
    getComputedStyle(document.documentElement).colorScheme === 'dark' ||
    (theme.get() === 'system' && matchMedia('(prefers-color-scheme: dark)').matches)
  theme.set(isDark ? 'light' : 'dark')
}
