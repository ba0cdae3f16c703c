import { type Kind, listOf, string } from '../../options/index.ts'

const TAGS_MAX = 20
const LENGTH_MAX = 200

const TAG = string(1, LENGTH_MAX)

/** The tags of a run. */
export const tags: Kind<readonly string[]> = listOf(TAG, { least: 0, most: TAGS_MAX })

/** The tags of a filter: at least one, because an empty list would match every run. */
export const someTags: Kind<readonly string[]> = listOf(TAG, { least: 1, most: TAGS_MAX })
