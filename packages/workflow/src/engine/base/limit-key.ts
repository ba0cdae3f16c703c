import { string } from '../../options/index.ts'

/** The most characters of a limit's key: it is part of an index. */
const KEY_LENGTH_MAX = 256

/** The key of a limit that has keys. */
export const LIMIT_KEY = string(1, KEY_LENGTH_MAX)

/** The key of any limit: empty if it has none. */
export const ANY_LIMIT_KEY = string(0, KEY_LENGTH_MAX)
