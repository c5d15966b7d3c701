//! Writes the Rust code of the contract: `generator DESCRIPTOR_SET OUTPUT_FOLDER`.
//!
//! The descriptor set is made by whoever calls this, so that neither users of the client nor this program need protoc.

use std::error::Error;
use std::path::PathBuf;

use prost::Message;
use prost_types::FileDescriptorSet;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [descriptor_set, output] = arguments.as_slice() else {
        return Err("usage: generator DESCRIPTOR_SET OUTPUT_FOLDER".into());
    };
    let files = FileDescriptorSet::decode(std::fs::read(descriptor_set)?.as_slice())?;
    tonic_prost_build::configure().build_server(false).bytes(".").out_dir(output).compile_fds(files)?;
    Ok(())
}
