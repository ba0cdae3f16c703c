export { type BelayConfig, defineConfig } from './store/config.ts'
