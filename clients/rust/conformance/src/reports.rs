//! What the runner says about what it got.

use condense_client::{Answer, ClientOptions, Error, ErrorKind, FlushStream, Shown, View, v1};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use v1::flush_event::Event;

pub fn options(options: &ClientOptions) -> Value {
    json!({
        "maxMessageBytes": options.max_message_bytes,
        "unaryDeltaBytes": options.unary_delta_bytes,
        "chunkBytes": options.chunk_bytes,
        "keepaliveSeconds": options.keepalive.as_secs(),
        "callTimeoutSeconds": options.call_timeout.map(|timeout| timeout.as_secs()),
        "maxAttempts": options.retry.max_attempts,
    })
}

pub fn capabilities(told: &v1::GetCapabilitiesResponse) -> Value {
    let tool = told.recovery_tool.clone().unwrap_or_default();
    json!({
        "version": told.version,
        "formats": told.formats().map(|it| it.as_str_name()).collect::<Vec<_>>(),
        "maxMessageBytes": told.limits.map(|limits| limits.max_message_bytes),
        "recoveryTool": {
            "name": tool.name, "description": tool.description, "parametersJson": tool.parameters_json,
        },
    })
}

pub fn view(list: &[Box<RawValue>], view: &View<'_, Box<RawValue>>) -> Value {
    let shown = |element: &Shown<'_, Box<RawValue>>| match element {
        Shown::Own(own) => {
            let place = list.iter().position(|it| std::ptr::eq(it, *own));
            format!("={}", place.expect("an element of the list"))
        }
        Shown::Written(json) => json.get().to_owned(),
    };
    let told = &view.response;
    let (reclaim, cache) = (told.reclaim.unwrap_or_default(), told.cache.unwrap_or_default());
    let violation = |it: &v1::Violation| json!({"kind": it.kind().as_str_name(), "messageIndex": it.message_index});
    json!({
        "view": view.messages.iter().map(shown).collect::<Vec<_>>(),
        "edits": view.edits.len(),
        "pruned": view.pruned(),
        "unchanged": told.unchanged,
        "revision": told.revision,
        "statusLine": view.status_line(),
        "reclaim": {"beforeChars": reclaim.before_chars, "afterChars": reclaim.after_chars},
        "cache": {"firstChangedIndex": cache.first_changed_index, "breaksCache": cache.breaks_cache},
        "advice": {"pendingBatches": told.advice.map(|advice| advice.pending_batches)},
        "violations": told.violations.iter().map(violation).collect::<Vec<_>>(),
    })
}

/// Reads events up to one of the kind `until`, or to the end.
pub async fn events(stream: &mut FlushStream, until: Option<&str>) -> Result<Value, Error> {
    let (mut events, mut batches, mut completed) = (Vec::new(), Vec::new(), Value::Null);
    while let Some(event) = stream.next().await {
        let kind = match event?.event {
            Some(Event::Started(_)) => "started",
            Some(Event::BatchStarted(_)) => "batchStarted",
            Some(Event::BatchProgress(_)) => "batchProgress",
            Some(Event::BatchFinished(batch)) => {
                batches.push(json!({"outcome": batch.outcome().as_str_name(), "refs": batch.refs}));
                "batchFinished"
            }
            Some(Event::ChainCompressed(_)) => "chainCompressed",
            Some(Event::Notice(_)) => "notice",
            Some(Event::Completed(done)) => {
                completed = json!({
                    "outcome": done.outcome().as_str_name(),
                    "summarizedBatches": done.counts.map_or(0, |counts| counts.summarized_batches),
                    "blocks": done.block_ids.len(),
                });
                "completed"
            }
            None => panic!("an event of no kind"),
        };
        events.push(kind);
        if until == Some(kind) {
            break;
        }
    }
    Ok(json!({"events": events, "batches": batches, "completed": completed}))
}

pub fn answer(answer: &Answer) -> Value {
    let block = |block: &v1::QueryBlock| {
        let record = block.record.clone().unwrap_or_default();
        json!({
            "label": block.label,
            "text": block.text,
            "truncated": block.truncated,
            "totalLines": block.total_lines,
            "ref": record.r#ref,
            "argumentsJson": record.arguments_json,
        })
    };
    let result = |it: &v1::QueryResult| {
        let blocks: Vec<Value> = it.blocks.iter().map(block).collect();
        json!({"requested": it.requested, "found": it.found, "blocks": blocks})
    };
    json!({"text": answer.text, "results": answer.results.iter().map(result).collect::<Vec<_>>()})
}

pub fn diagnostics(told: &v1::GetDiagnosticsResponse) -> Value {
    let advice = told.advice.unwrap_or_default();
    json!({
        "statusLine": told.status_line,
        "pendingBatches": advice.pending_batches,
        "running": advice.running,
        "lastOutcomes": told.last_flushes.iter().map(|it| it.outcome().as_str_name()).collect::<Vec<_>>(),
    })
}

pub fn error(error: &Error) -> Value {
    let violation = |it: &condense_client::FieldViolation| json!({"field": it.field, "description": it.description});
    json!({
        "type": kind(error.kind()),
        "reason": error.reason(),
        "metadata": error.metadata(),
        "retryAfterSeconds": error.retry_after().map(|delay| delay.as_secs_f64()),
        "violations": error.violations().iter().map(violation).collect::<Vec<_>>(),
        "message": error.message(),
    })
}

/// The variant's own name, which is the one that scenarios use.
fn kind(kind: ErrorKind) -> String {
    format!("{kind:?}")
}
