import { useState } from 'preact/hooks'
import { Mark } from '../../../packages/dashboard/ui/src/icons.tsx'
import { theme } from '../../../packages/dashboard/ui/src/settings.ts'
import { useCell } from '../../../packages/dashboard/ui/src/stored.ts'
import { useNow } from '../../../packages/dashboard/ui/src/use-now.ts'
import { PRESETS, type Preset } from '../presets/index.ts'
import { startAfresh } from './afresh.ts'
import { Refusal, useAsked } from './asked.tsx'
import { useMany } from './many.ts'
import { ManyButton, ManyFigure } from './many-runs.tsx'
import type { State } from './model.ts'
import type { Playground } from './state.ts'

/** Of the dial: how often as slow as written. */
const SLOWNESSES = [0.25, 1, 2, 4] as const

interface TopProps {
  readonly playground: Playground
  readonly state: State
  readonly preset: Preset
  readonly onPreset: (preset: Preset) => void
  readonly onTour: () => void
  readonly onKeys: () => void
}

export function Top({ playground, state, preset, onPreset, onTour, onKeys }: TopProps) {
  const [slowness, setSlowness] = useState(1)
  const { refusal, ask } = useAsked()
  const { many, startMany } = useMany(playground, slowness)
  const isMany = many !== undefined && many.ended < many.of && refusal === undefined
  const isOff = state.phase !== 'playing'
  const slow = (slowness: number) => {
    setSlowness(slowness)
    playground.slow(slowness)
  }
  return (
    <>
      <header class="top">
        <h1>
          <Mark /> Belay in the browser
        </h1>
        <Presets {...{ preset, onPreset }} />
        <button
          type="button"
          class="button main"
          data-tour="start"
          disabled={isOff}
          onClick={() => void ask(() => playground.start(1))}
        >
          Start a run
        </button>
        <button
          type="button"
          class="button"
          disabled={isOff}
          onClick={() => void ask(() => playground.start(20))}
        >
          Start 20
        </button>
        <ManyButton isOff={isOff || isMany} onGo={(count) => void ask(() => startMany(count))} />
        <Dial {...{ slowness, onSlowness: slow }} isOff={isMany} />
        <CutButton {...{ playground, state }} />
        <span class="grow" />
        <button type="button" class="quiet" onClick={onTour}>
          Tour
        </button>
        <button type="button" class="quiet" onClick={onKeys}>
          Keys
        </button>
        <button
          type="button"
          class="quiet"
          title="Throws this database away, and opens a new one"
          onClick={startAfresh}
        >
          Start afresh
        </button>
        <Theme />
      </header>
      <div class="under-top">
        {many && <ManyFigure many={many} />}
        <Refusal of={refusal} />
      </div>
    </>
  )
}

function Presets({ preset, onPreset }: Pick<TopProps, 'preset' | 'onPreset'>) {
  return (
    <label>
      <span class="sr">Example</span>
      <select
        class="select"
        data-tour="preset"
        value={preset.name}
        onChange={({ currentTarget }) => onPreset(PRESETS.find(({ name }) => name === currentTarget.value)!)}
      >
        {PRESETS.map(({ name, title }) => (
          <option key={name} value={name}>
            {title}
          </option>
        ))}
      </select>
    </label>
  )
}

function Dial({
  slowness,
  onSlowness,
  isOff,
}: {
  readonly slowness: number
  readonly onSlowness: (slowness: number) => void
  readonly isOff: boolean
}) {
  return (
    <label class="dial">
      Speed{' '}
      <select
        class="select"
        value={slowness}
        disabled={isOff}
        onChange={({ currentTarget }) => onSlowness(Number(currentTarget.value))}
      >
        {SLOWNESSES.map((slowness) => (
          <option key={slowness} value={slowness}>
            {slowness <= 1 ? `${1 / slowness} ×` : `1/${slowness} ×`}
          </option>
        ))}
      </select>
    </label>
  )
}

function CutButton({ playground, state: { phase, cutUntil } }: Pick<TopProps, 'playground' | 'state'>) {
  const now = useNow(100)
  return (
    <button
      type="button"
      class="button cut"
      disabled={phase !== 'playing' || cutUntil !== undefined}
      onClick={() => playground.cut()}
    >
      {cutUntil === undefined
        ? 'Cut the database'
        : `Back in ${(Math.max(0, cutUntil - now) / 1_000).toFixed(1)} s`}
    </button>
  )
}

function Theme() {
  const chosen = useCell(theme)
  return (
    <label>
      <span class="sr">Theme</span>
      <select
        class="select quiet-select"
        value={chosen}
        onChange={({ currentTarget }) => theme.set(currentTarget.value as typeof chosen)}
      >
        <option value="system">System</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  )
}
