import type { Line } from './state.ts'

/** What happened, the newest first. */
export function Story({ lines }: { readonly lines: readonly Line[] }) {
  return (
    <section class="story" aria-label="What happened">
      <ol>
        {[...lines].reverse().map(({ at, who, text, looks }, index) => (
          <li key={lines.length - index} class={looks}>
            <time class="weak">{new Date(at).toLocaleTimeString('en-GB')}</time> <b>{who}</b> {text}
          </li>
        ))}
      </ol>
    </section>
  )
}
