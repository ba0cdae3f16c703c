/**
 * Define workflows, run them, and act on runs.
 *
 * @module @belay/workflow
 */
export * from '../../packages/workflow/dist/index.js'
