import { PRESETS, type Preset } from '../presets/index.ts'
import type { Playground, State } from './state.ts'

/** Of the dial: how often as slow as written. */
const SLOWNESSES = [0.25, 1, 2, 4] as const

export function Top({
  playground,
  state,
  preset,
  onPreset,
}: {
  readonly playground: Playground
  readonly state: State
  readonly preset: Preset
  readonly onPreset: (preset: Preset) => void
}) {
  const isOff = state.phase !== 'playing'
  return (
    <header class="top">
      <h1>Belay in the browser</h1>
      <label>
        <span class="sr">Example</span>
        <select
          value={preset.name}
          onChange={({ currentTarget }) =>
            onPreset(PRESETS.find(({ name }) => name === currentTarget.value)!)
          }
        >
          {PRESETS.map(({ name, title }) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <button type="button" class="button main" disabled={isOff} onClick={() => void playground.start(1)}>
        Start a run
      </button>
      <button type="button" class="button" disabled={isOff} onClick={() => void playground.start(20)}>
        Start 20
      </button>
      <button
        type="button"
        class="button"
        disabled={isOff || state.cutUntil !== undefined}
        onClick={() => playground.cut()}
      >
        Cut the database
      </button>
      <label>
        Speed{' '}
        <select
          defaultValue="1"
          onChange={({ currentTarget }) => playground.slow(Number(currentTarget.value))}
        >
          {SLOWNESSES.map((slowness) => (
            <option key={slowness} value={slowness}>
              {slowness < 1 ? `${1 / slowness} ×` : slowness === 1 ? '1 ×' : `1/${slowness} ×`}
            </option>
          ))}
        </select>
      </label>
      {state.phase === 'opening' && (
        <span class="progress" role="status">
          <progress value={state.progress.part} max={1} aria-label="Opening" /> {state.progress.what}…
        </span>
      )}
    </header>
  )
}
