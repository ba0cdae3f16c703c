import type { Kind } from '../state.ts'

/** A handler. With a time as its answer it is asked again then, as a poll is. */
export const work: Kind = { name: 'work', asks: 'run' }
