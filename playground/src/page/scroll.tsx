import type { ComponentChildren } from 'preact'

/** A region of its own that scrolls. */
export function Scroll({
  label,
  children,
}: {
  readonly label: string
  readonly children: ComponentChildren
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <section class="scroll" tabIndex={0} aria-label={label}>
      {children}
    </section>
  )
}
