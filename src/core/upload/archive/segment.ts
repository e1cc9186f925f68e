/** A finished piece of an archive. */
export interface Segment {
  readonly data: Buffer;
  /** tar.gz: CRC-32 and length of what is compressed in `data`. */
  readonly crc: number;
  readonly rawBytes: number;
  /** zip: records of the central directory for the entries that end in this piece. */
  readonly central: Uint8Array;
  /** zip: the offsets of those entries, from the start of their task. */
  readonly offsets: Float64Array<ArrayBuffer>;
}

/** What a builder needs to know of an entry. */
export interface EntryHead {
  readonly path: string;
  readonly mode: number;
}

/** Builds the pieces of one task of an archive; one implementation per format. Always the same bytes for the same content. */
export interface SegmentBuilder {
  /** Adds a file that was read whole; its content is referred to until the next `take`. */
  add(entry: EntryHead, content: Buffer): void;
  /** Starts a file that comes in slices, `bytes` in all. */
  begin(entry: EntryHead, bytes: number): void;
  slice(content: Buffer, last: boolean): void;
  /** What was built since the last call; undefined when nothing was. */
  take(): Segment | undefined;
  /** Remembers the state after the last `take`, for `undo`. */
  mark(): void;
  /** Back to `mark`: what was begun since is not part of the archive. */
  undo(): void;
}

/** zlib's default: what `git archive` uses. */
export const zipLevel = 6;
/** Node's zlib packs source code at this level about as small as `pigz` does at its default, 6, and in two thirds of the time that 6 takes it. */
export const tarLevel = 5;
/** The most of earlier content that a deflate stream can refer to. */
export const windowBytes = 32 << 10;
