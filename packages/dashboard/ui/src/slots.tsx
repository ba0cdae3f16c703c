const DRAWN_MAX = 32

/** Each slot as a box, filled while something is in it; of many only the numbers. */
export function Slots({ slots, taken }: { readonly slots: number; readonly taken: number }) {
  return (
    <span class="slots">
      {slots <= DRAWN_MAX &&
        Array.from({ length: slots }, (_, slot) => (
          <i key={slot} class={slot < taken ? 'full' : ''} aria-hidden="true" />
        ))}
      <span>
        {taken} of {slots}
        {slots > 0 && taken >= slots && ', full'}
      </span>
    </span>
  )
}
