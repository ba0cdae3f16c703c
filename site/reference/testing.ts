/**
 * The memory adapter and its clock, for tests.
 *
 * @module @belay/testing
 */
export * from '../../packages/testing/dist/index.js'
