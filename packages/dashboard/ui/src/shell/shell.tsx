import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'wouter'
import type { Overview, Session } from '../../../src/api.ts'
import { downSince, Forbidden } from '../answer.tsx'
import { isForbidden } from '../api.ts'
import { Boundary } from '../boundary.tsx'
import { Glyph } from '../glyph.tsx'
import { useKeys } from '../keys.ts'
import { beat, isDown, useLive } from '../live.ts'
import { SCREENS } from '../screens.ts'
import { paused } from '../settings.ts'
import { useCell } from '../stored.ts'
import { useNow } from '../use-now.ts'
import { age, instant } from '../words.ts'
import { DisplayDialog, KeysDialog } from './dialogs.tsx'
import { Palette } from './palette.tsx'
import { Side } from './side.tsx'
import { useTab } from './tab.ts'
import { type Opened, Top } from './top.tsx'

/** What surrounds every screen: navigation, top bar, dialogs, and the line that says that the store is silent. */
export function Shell({ children }: { readonly children: ComponentChildren }) {
  const overview = useLive<Overview>('overview', (signal) => beat('overview', signal))
  const session = useLive<Session>('session')
  const [opened, open] = useState<Opened>()
  const [place] = useLocation()
  const close = () => open(undefined)
  useShellKeys(open)
  useDown(overview)
  useTab(overview.data, session.data?.title)
  // The drawer has done its work once it led somewhere.
  useEffect(() => open((what) => (what === 'menu' ? undefined : what)), [place])
  const refused = [session.error, overview.error].find(isForbidden)
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Side overview={overview.data} title={session.data?.title} isOpen={opened === 'menu'} onClose={close} />
      <div class="page">
        <Top open={open} isMenuOpen={opened === 'menu'} readAt={overview.dataUpdatedAt} />
        <DownLine />
        <Content>
          {refused ? <Forbidden error={refused} /> : <Boundary key={place}>{children}</Boundary>}
        </Content>
      </div>
      {opened === 'palette' && <Palette onClose={close} />}
      {opened === 'keys' && <KeysDialog onClose={close} />}
      {opened === 'display' && <DisplayDialog onClose={close} />}
    </div>
  )
}

function Content({ children }: { readonly children: ComponentChildren }) {
  const down = useCell(downSince)
  return (
    <main id="main" tabIndex={-1} class={down === undefined ? '' : 'stale'}>
      {children}
    </main>
  )
}

function useShellKeys(open: (what: Opened | undefined) => void): void {
  const [, navigate] = useLocation()
  useKeys({
    'Ctrl+k': () => open('palette'),
    '?': () => open('keys'),
    Escape: () => open(undefined),
    ...Object.fromEntries(SCREENS.map(({ key, to }) => [`g ${key}`, () => navigate(to)])),
    p: () => paused.set(!paused.get()),
  })
}

function useDown({
  error,
  dataUpdatedAt,
}: {
  readonly error: Error | null
  readonly dataUpdatedAt: number
}): void {
  const down = isDown(error)
  useEffect(() => downSince.set(down ? dataUpdatedAt : undefined), [down, dataUpdatedAt])
}

function DownLine() {
  const since = useCell(downSince)
  return <div role="status">{since !== undefined && <Silence since={since} />}</div>
}

function Silence({ since }: { readonly since: number }) {
  const now = useNow()
  return (
    <p class="banner s-failed">
      <Glyph state="failed" />
      {since === 0 ? (
        <span>The store does not answer.</span>
      ) : (
        <span>
          The store has not answered since <b>{instant(since, now)}</b>, {age(now - since)} ago. What is shown
          is of then, and actions are off.
        </span>
      )}
    </p>
  )
}
