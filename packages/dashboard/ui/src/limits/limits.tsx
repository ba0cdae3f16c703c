import { useState } from 'preact/hooks'
import { Link, useSearch } from 'wouter'
import type { LimitLine, LimitPage, LimitsPage } from '../../../src/api/limits.ts'
import { Answer, Blank } from '../answer.tsx'
import { State } from '../glyph.tsx'
import { Head } from '../head.tsx'
import { useLive } from '../live.ts'
import { MayButton } from '../may-button.tsx'
import { zone } from '../settings.ts'
import { Slots } from '../slots.tsx'
import { useCell } from '../stored.ts'
import { age, counted, figure, fullInstant, instant, nameOf, span } from '../words.ts'
import { LimitDialog } from './limit-dialog.tsx'
import { allowedWords } from './words.ts'

/** How much may be under way at once, and who waits. `?name=` opens all lines of one. */
export function Limits() {
  const name = new URLSearchParams(useSearch()).get('name')
  return name === null ? <All /> : <One key={name} name={name} />
}

function All() {
  const page = useLive<LimitsPage>('limits')
  return (
    <Answer of={page}>
      {({ limits, more, readAt }: LimitsPage) => {
        const waiting = limits.reduce((sum, limit) => sum + limit.waiting, 0)
        if (limits.length === 0) return <Nothing />
        return (
          <>
            <Head title={`${counted(limits.length, 'limit')}, ${counted(waiting, 'step')} in line`}>
              {LEAD}
            </Head>
            {limits.map((limit) => (
              <Limit key={limit.name} limit={limit} now={readAt} />
            ))}
            {more && <p class="weak">There are more limits, which are not shown.</p>}
          </>
        )
      }}
    </Answer>
  )
}

function One({ name }: { readonly name: string }) {
  const page = useLive<LimitPage>(`limits/${encodeURIComponent(name)}`)
  return (
    <Answer of={page}>
      {(limit: LimitPage) => (
        <>
          <Head title="One limit">{LEAD}</Head>
          <p>
            <Link class="run-link" href="/limits">
              All limits
            </Link>
          </p>
          <Limit limit={limit} now={page.dataUpdatedAt} isAlone />
        </>
      )}
    </Answer>
  )
}

const LEAD =
  'Each key has a line of its own: a long line holds up nobody else. A step in a line holds no worker. An undo never waits here.'

function Nothing() {
  return (
    <Blank state="pending" title="There are no limits">
      <p>A worker declares the limits of its workflows when it starts: with concurrency or rateLimit.</p>
    </Blank>
  )
}

interface LimitProps {
  readonly limit: LimitPage
  readonly now: number
  readonly isAlone?: boolean
}

function Limit({ limit, now, isAlone = false }: LimitProps) {
  useCell(zone)
  const [isChanging, change] = useState(false)
  const { name, lines, more, changes, waiting, pushedBackUntil } = limit
  const longest = Math.max(1, ...lines.map((line) => line.waiting))
  return (
    <section class="limit" aria-label={name}>
      <header>
        <h2>{name}</h2>
        <span class="weak">{allowedWords(limit)}</span>
        {isClosed(limit) && <State state="paused">Closed</State>}
        {pushedBackUntil !== undefined && pushedBackUntil > now && (
          <State state="waiting">Pushed back until {instant(pushedBackUntil, now)}</State>
        )}
        <span class="grow" />
        <MayButton capability="limits.set" label={`Change… ${name}`} onClick={() => change(true)}>
          Change…
        </MayButton>
      </header>
      {changes[0] && (
        <p class="weak">
          {changes[0].sentence} {changes[0].by} did it{' '}
          <time title={fullInstant(changes[0].at)}>{instant(changes[0].at, now)}</time>: {changes[0].reason}
        </p>
      )}
      {lines.length === 0 ? (
        <p class="weak">Nothing is under way here, and nobody is in line.</p>
      ) : (
        <ul>
          {lines.map((line) => (
            <Line key={line.key} line={line} limit={limit} longest={longest} now={now} />
          ))}
        </ul>
      )}
      {more && !isAlone && (
        <p>
          <Link class="run-link" href={`/limits?${new URLSearchParams({ name })}`}>
            All lines of {name}
          </Link>
        </p>
      )}
      {more && isAlone && (
        <p class="weak">These are its {figure(lines.length)} longest lines: there are more.</p>
      )}
      {waiting > 0 && (
        <p>
          <Link class="run-link" href={`/runs?${new URLSearchParams({ waits: name })}`}>
            Show the runs that wait
          </Link>
        </p>
      )}
      {isChanging && <LimitDialog limit={limit} onClose={() => change(false)} />}
    </section>
  )
}

function isClosed({ slots, rate }: LimitPage): boolean {
  return (slots ?? rate?.limit) === 0
}

const TICKS_MAX = 60

interface LineProps {
  readonly line: LimitLine
  readonly limit: LimitPage
  /** The most that wait in one of the lines: ticks stand for equal shares of it. */
  readonly longest: number
  readonly now: number
}

function Line({ line: { key, inUse, waiting, first }, limit, longest, now }: LineProps) {
  const { slots } = limit
  const ticks = longest <= TICKS_MAX ? waiting : Math.ceil((waiting / longest) * TICKS_MAX)
  return (
    <li>
      <span class="key">{key === '' ? <span class="weak">all together</span> : key}</span>
      {slots === undefined ? <span>{figure(inUse)} under way</span> : <Slots slots={slots} taken={inUse} />}
      <span class="queue">
        {Array.from({ length: ticks }, (_, tick) => (
          <i key={tick} aria-hidden="true" />
        ))}
        <span class="weak">{waiting === 0 ? 'nobody in line' : `${figure(waiting)} in line`}</span>
      </span>
      <span class="weak first">
        {first && (
          <>
            <Link class="run-link" href={`/runs/${first.runId}`} title={first.runId}>
              {nameOf({ id: first.runId, key: first.runKey })}
            </Link>{' '}
            is first, for {now - first.since < 60_000 ? age(now - first.since) : span(now - first.since)}
          </>
        )}
      </span>
    </li>
  )
}
