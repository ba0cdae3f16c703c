/** The numbers of derived versions begin here. */
export const DERIVED_FROM = 1_000_000_000
