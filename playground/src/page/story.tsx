import type { Line } from './model.ts'
import { Scroll } from './scroll.tsx'

const SHOWN_MAX = 60

/** What happened, the newest first. */
export function Story({ lines }: { readonly lines: readonly Line[] }) {
  const first = Math.max(0, lines.length - SHOWN_MAX)
  return (
    <section class="story" aria-label="What happened">
      <div class="panel-head">
        <h2>What happened</h2>
      </div>
      <Scroll label="The newest first">
        {lines.length === 0 && <p class="weak">Nothing yet.</p>}
        <ol>
          {lines
            .slice(first)
            .map(({ at, who, text, looks }) => (
              <li key={`${at} ${who} ${text}`} class={looks}>
                <time class="weak">{new Date(at).toLocaleTimeString('en-GB')}</time> <b>{who}</b> {text}
              </li>
            ))
            .reverse()}
        </ol>
      </Scroll>
    </section>
  )
}
